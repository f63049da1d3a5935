"""Every plugin's worker: started at the first call, swapped when the code changes, ended when it misbehaves.

Above: `session` runs jobs, `plugins` asks for descriptions and says what a plugin is. Below: `slot`, `living`, `describing`,
`glance`. It refuses to know: whether a call may run, and where outcomes go. A worker's death never raises: it is the outcome of
its calls.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence

import msgspec
import structlog

from etui.contracts import Description, Files
from etui.contracts.standing import Standing
from etui.errors import WireError, WorkerGone
from etui.events import Kind
from etui.outcome import Outcome, Status
from etui.run import Job, Serve, ends
from etui.run.describing import Describing
from etui.run.enforced import Enforced
from etui.run.glance import Glances
from etui.run.living import Alive, Living, launcher
from etui.run.running import Running
from etui.run.slot import Key, Slot, key_of
from etui.run.worker import Worker
from etui.tool import Grant, Risk

log = structlog.get_logger(__name__)
_TRIES = 10


def nothing_given(plugin: str) -> Mapping[str, str]:
    """For a host that gives no plugin anything."""
    return {}


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """How long the host is patient, in seconds."""

    grace: float = 1.0
    """After a deadline, until a worker that goes on is killed."""
    stop: float = 0.4
    """The same after somebody stopped the call: a person is waiting."""
    start: float = 20.0
    """For a worker to load its plugin, before a call is sent."""
    describe: float = 10.0


class Workers:
    """Runs jobs in workers; `etui.run.Runner`. Belongs to the event loop that it was started on."""

    def __init__(
        self,
        *,
        tools_python: str = sys.executable,
        preload: Sequence[str] = (),
        zygote: bool | None = None,
        memory: int = 512,
        timing: Timing | None = None,
        environ: Mapping[str, str] | None = None,
        tell: Callable[[Kind, dict[str, object]], object] | None = None,
        contract_path: str = "",
        where: Callable[[Files], Files] | None = None,
        given: Callable[[str], Mapping[str, str]] = nothing_given,
        apart: Callable[[Files], Serve] | None = None,
        reaching: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        """`memory` is MB for each worker; `zygote` None means where the system has what it needs; `tell` hears of workers.

        `where` says where a version's code lies now, which may be another place than when it was set; asked in a thread.
        `given` has a plugin's variables that are not, or not so, in the host's environment; only granted ones are handed in.
        `apart` gives what answers a plugin that asks for something outside of any call; `reaching` the variables that each
        worker has that may use the network, before all others.
        """
        environ = dict(os.environ if environ is None else environ)
        self._timing = timing or Timing()
        self._where = where
        self._living = Living(
            launcher(tools_python, preload, environ, zygote),
            environ,
            memory=memory,
            grace=self._timing.grace,
            contract_path=contract_path,
            given=given,
            reaching=reaching,
            apart=apart,
            gone=self._gone,
            tell=tell,
        )
        self._describing = Describing(self._living, self._timing.describe)
        self._slots: dict[Key, Slot] = {}
        self._standings: dict[str, Standing] = {}
        """What sessions have proved since they began, by their ids."""
        self._glances = Glances()
        self._background: set[asyncio.Task[object]] = set()

    async def start(self) -> None:
        """Begin to watch over memory; the zygote itself is started when it is first needed."""
        self._living.watch()

    async def close(self) -> None:
        """End every worker and the zygote; calls under way end as if their worker had died."""
        self._living.closed = True
        for task in self._background:
            task.cancel()
        for slot in self._slots.values():
            slot.awake.set()
            if slot.worker is not None and slot.files.parting:
                slot.worker.leave()
        await self._living.close()

    def set_plugin(self, files: Files, grant: Grant) -> None:
        """What the next call of this plugin runs; the worker of an older version finishes what it has and goes."""
        slot = self._slots.get(key_of(files.plugin))
        if slot is None:
            self._slots[key_of(files.plugin)] = Slot(files, grant)
            return
        slot.awake.set()
        if slot.holds(files, grant):
            slot.files = files  # the same code, perhaps in another place: what runs goes on
        else:
            self._change(slot, files, grant)

    def restart_plugin(self, name: str) -> None:
        """The next call of this plugin runs in a fresh worker; the one there is finishes what it has and goes."""
        slot = self._slots.get(key_of(name))
        if slot is not None:
            self._anew(slot)

    async def rest_plugin(self, name: str) -> None:
        """Let its worker go, after it has cleared up; its next call waits until the plugin is set or removed."""
        slot = self._slots.get(key_of(name))
        if slot is not None:
            slot.awake.clear()
            slot.retire()
        await self._living.parted(name)

    def remove_plugin(self, name: str) -> None:
        """No call of this plugin runs any more; those under way end as they would."""
        slot = self._slots.pop(key_of(name), None)
        if slot is not None:
            slot.awake.set()
            slot.retire()

    def end_instance(self, instance: str, plugin: str = "") -> None:
        """A session ended, or will never use this plugin of its own: its workers finish what they have and go."""
        for key in [key for key in self._slots if key[1] == instance and plugin in ("", key[0])]:
            self._slots.pop(key).retire()
        if not plugin:
            self._standings.pop(instance, None)

    def regrant(self, plugin: str, grant: Grant) -> None:
        """Every session's own worker of this plugin may touch this from its next call on, which runs in a fresh one."""
        for slot in [slot for key, slot in self._slots.items() if key[0] == plugin and key[1]]:
            slot.change(slot.files, grant)

    def reach_anew(self) -> None:
        """The way into the network is another one: what may use it runs in fresh workers from its next call on."""
        for slot in [slot for slot in self._slots.values() if slot.grant.network]:
            self._anew(slot)

    def _anew(self, slot: Slot) -> None:
        """The same code under the same grant, from the next call on in a fresh worker."""
        # A grant of its own: a worker that is being started now is known by it to be none of the new ones.
        self._change(slot, slot.files, msgspec.structs.replace(slot.grant))

    def _change(self, slot: Slot, files: Files, grant: Grant) -> None:
        """Give it other code or another grant; where a worker ran that sessions share, the next one starts at once."""
        was_running = slot.worker is not None
        slot.change(files, grant)
        if was_running and not files.instance:
            self._keep(self.prewarm(files.plugin))

    async def prewarm(self, plugin: str) -> None:
        """Start its worker now, so that its first call does not wait; what goes wrong shows at the first call."""
        slot = self._slots.get(key_of(plugin))
        if slot is not None and slot.worker is None:
            try:
                await self._worker(slot)
            except WorkerGone:
                return

    def tell(self, session: str, standing: Standing) -> None:
        """Tell the calls of a session that run now what it has proved, and those that wait for a worker once they run."""
        self._standings[session] = standing
        for worker in self._living:
            worker.tell(session, standing)

    def enforced(self, plugin: str) -> Enforced | None:
        """What held for the plugin's worker that was started last; None if there was none yet."""
        slot = self._slots.get(key_of(plugin))
        return slot.enforced if slot else None

    def logs(self, plugin: str) -> str:
        """The last that the plugin printed."""
        slot = self._slots.get(key_of(plugin))
        return slot.log.text if slot else ""

    def report(self) -> list[Alive]:
        """The workers that are alive now."""
        return self._living.report()

    async def describe(self, files: Files, grant: Grant) -> Description:
        """What the plugin offers, learnt in a worker of its own; a crash or a hang is a `Problem`. Raises nothing."""
        if files.parting:
            await self._living.parted(files.plugin)
        return await self._describing.describe(files, grant)

    async def adopt(self, files: Files, grant: Grant) -> Description:
        """The same, and if it offers anything, the worker stays: it runs the calls of this instance. Raises nothing."""
        slot = Slot(files, grant)

        def keep(worker: Worker, description: Description) -> bool:
            if not description.tools or self._living.closed:
                return False
            self._slots[slot.key] = slot
            if worker.alive:
                slot.started(worker)
                self._living.tell_started(worker)
            return worker.alive

        return await self._describing.describe(files, grant, slot.log, keep)

    def run(self, job: Job) -> Coroutine[object, object, Outcome]:
        """Run it to its one end. Raises nothing but CancelledError, and then the work has ended or its worker is dead."""
        return self._try(job, asyncio.get_running_loop().time(), job.seconds, again=True)

    async def _try(self, job: Job, began: float, limit: float | None, *, again: bool) -> Outcome:
        """One attempt; if the worker dies, `again` allows another for a tool that only reads, in the time that is left."""
        tool = job.tool
        slot = self._slots.get(key_of(tool.plugin, tool.instance))
        if slot is None:
            text = f"{tool.name!r} is not there any more: its plugin {tool.plugin!r} was removed."
            return Outcome(status=Status.REFUSED, text=text, rule="find")
        worker = slot.worker
        try:
            if worker is None or not worker.alive:
                worker = await self._worker(slot)
            running = worker.begin(job)
            if (standing := self._standings.get(job.caller.session)) is not None:
                worker.tell(job.caller.session, standing)
        except WorkerGone as gone:
            return ends.broken(tool, Status.CRASHED, f"{tool.name!r} did not run. {gone}", self._since(began))
        except WireError as error:
            return ends.broken(
                tool, Status.FAILED, f"{tool.name!r} did not run: its arguments cannot be sent. {error}", self._since(began)
            )
        self._glances.sent(worker, running)
        try:
            if worker.telling and running.end.done():
                await asyncio.sleep(0)  # an end that the loop brings comes after what was said before it; so does this one
            end = await running.end
        except asyncio.CancelledError:
            await self._stop(slot, worker, running)
            raise
        self._glances.ended(worker, running)
        seconds = self._since(began)
        if running.expired:
            log.warning("a call took too long and was ended", tool=tool.name, plugin=tool.plugin, limit=limit)
            await self._clear_away(slot, worker)
            return ends.timed_out(tool, limit, seconds, worker.last_words(end))
        if not isinstance(end, str):
            return ends.ended(tool, end, seconds, worker.grant, slot.files.work)
        if again and tool.risk is Risk.READ and not self._living.closed:
            left = msgspec.structs.replace(job, seconds=running.left)
            return await self._try(left, began, limit, again=False)
        return ends.died(tool, end, seconds, worker.last_words(end))

    async def _stop(self, slot: Slot, worker: Worker, running: Running) -> None:
        """Somebody stopped the call: come back only when its work has ended, whoever else is in a hurry."""
        if running.number not in worker.calls:
            return
        end = running.again()
        running.stop_clock()
        worker.cancel(running, min(self._timing.stop, self._timing.grace))
        while not end.done():
            try:
                await asyncio.wait([end])
            except asyncio.CancelledError:
                continue  # already on the way out
        await self._clear_away(slot, worker)

    async def _clear_away(self, slot: Slot, worker: Worker) -> None:
        """A call was ended before its time: programs that it may have started end with its worker, once nobody needs it."""
        if not slot.grant.subprocess or not worker.alive:
            return
        if slot.worker is worker:
            slot.retire()
        if not worker.calls:
            await asyncio.wait([worker.exited])

    async def _worker(self, slot: Slot) -> Worker:
        """The slot's worker, started if need be, by one for all who wait. Raises `WorkerGone`."""
        for _ in range(_TRIES):
            if self._slots.get(slot.key) is not slot:
                raise WorkerGone(f"Its plugin {slot.files.plugin!r} was removed.")
            if slot.worker is not None and slot.worker.alive:
                return slot.worker
            if slot.starting is None:
                slot.starting = asyncio.create_task(self._start(slot))
                slot.starting.add_done_callback(_seen)
            starting = slot.starting
            try:
                worker = await asyncio.shield(starting)
                if worker.alive and not worker.leaving:
                    return worker
            except asyncio.CancelledError:
                if not starting.cancelled():
                    raise
                if self._living.closed:
                    raise WorkerGone("The host is closing.") from None
            finally:
                if slot.starting is starting and starting.done():
                    slot.starting = None
        raise WorkerGone(f"Plugin {slot.files.plugin!r} dies, or is changed, again and again as soon as it has started.")

    async def _start(self, slot: Slot) -> Worker:
        loop = asyncio.get_running_loop()
        await slot.awake.wait()
        if self._slots.get(slot.key) is not slot:
            raise WorkerGone(f"Its plugin {slot.files.plugin!r} was removed.")
        if slot.files.parting:
            await self._living.parted(slot.files.plugin)
        resting = slot.resting(loop.time())
        if resting:
            raise WorkerGone(resting)
        files, grant = slot.files, slot.grant
        place = await self._place(files)
        worker = await self._living.launch(place, grant, slot.log)
        done, _ = await asyncio.wait([worker.described], timeout=self._timing.start)
        if not done:
            worker.kill(f"it had not loaded its plugin after {self._timing.start:g} s")
        if not done or worker.described.cancelled():
            await asyncio.wait([worker.exited])
            slot.died_at_start(worker.why, loop.time())
            raise WorkerGone(f"The process of plugin {files.plugin!r} died while it started: {worker.why}.")
        unchanged = await self._place(files) == place
        if (
            unchanged
            and slot.awake.is_set()
            and slot.files is files
            and slot.grant is grant
            and self._slots.get(slot.key) is slot
        ):
            slot.started(worker)
        else:
            worker.leave()  # the plugin changed meanwhile: whoever waited for this one gets the next
        self._living.tell_started(worker)
        return worker

    async def _place(self, files: Files) -> Files:
        return files if self._where is None or files.code else await asyncio.to_thread(self._where, files)

    def _gone(self, worker: Worker) -> None:
        slot = self._slots.get(key_of(worker.files.plugin, worker.files.instance))
        if slot is not None and slot.worker is worker:
            slot.worker = None
            self._living.tell_gone(worker)

    def _keep(self, work: Coroutine[object, object, object]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    @staticmethod
    def _since(began: float) -> float:
        return asyncio.get_running_loop().time() - began


def _seen(task: asyncio.Task[Worker]) -> None:
    """Take note of the error, which nobody else may be there to see."""
    if not task.cancelled():
        task.exception()
