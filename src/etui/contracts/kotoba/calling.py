"""One call of a tool module: its context, its arguments, `execute` on the loop, and its one end.

Above: the contract. Below: `context`, `witnesses`, `results`. It refuses to know: how the module was found, and deadlines.
Of a call that is stopped, nothing goes on: its tasks are cancelled, and it has not ended while a thread of it runs, so that the
host ends the worker.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import re
import threading
import weakref
from collections.abc import Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from etui.contracts import Caller, Line, Ran
from etui.contracts.kotoba.asking import Gate
from etui.contracts.kotoba.context import Servers, ToolContext
from etui.contracts.kotoba.database import Database
from etui.contracts.kotoba.results import graded, raised, unawaitable
from etui.contracts.kotoba.spec import Spec
from etui.contracts.kotoba.witnesses import Witness, witnessing
from etui.outcome import Status

SPOKEN = frozenset({"voice", "phone"})
"""The channels on which a person hears the assistant."""
TEXTS = 4
"""How many of a person's utterances a tool is told."""
_CITED = re.compile("[\ue200-\ue2ff]")
"""Characters with which a provider marks citations; they are no text."""
_TASKS: ContextVar[weakref.WeakSet[asyncio.Task[Any]] | None] = ContextVar("kotoba_tasks", default=None)

Voices = Mapping[str, Mapping[str, Any]]


async def run(spec: Spec, arguments: Mapping[str, object], line: Line, work: str, voices: Voices) -> Ran:
    """One call. Raises nothing but CancelledError, and that only when the call itself is cancelled."""
    if spec.provided:
        return Ran(status=Status.OK)
    threads = set(threading.enumerate())
    tasks: weakref.WeakSet[asyncio.Task[Any]] = weakref.WeakSet()
    _notice_tasks(asyncio.get_running_loop())
    token = _TASKS.set(tasks)
    try:
        with witnessing(line, work) as witness:
            return await _run(spec, _uncited(arguments), context(line, work, voices), witness)
    except asyncio.CancelledError:
        await _nothing_goes_on(tasks, threads)
        raise
    finally:
        _TASKS.reset(token)


async def _run(spec: Spec, arguments: Any, ctx: ToolContext, witness: Witness) -> Ran:
    try:
        given = spec.target.execute(arguments, ctx)
        if not inspect.isawaitable(given):
            return unawaitable(given, spec.name)
        value = await given
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return raised(error, witness)
    except BaseException as error:  # a tool may raise anything, SystemExit among it: it costs this one call
        return raised(error, witness)
    return graded(value, witness, tool=spec.name)


def context(line: Line, work: str, voices: Voices) -> ToolContext:
    """What `execute` is handed; `voices` are the plugin's own lines, for a host that tells no others."""
    caller = line.caller
    more = caller.more
    channel = "voice" if caller.channel in SPOKEN else "text"
    servers = more.get("servers")
    table: dict[str, Any] = dict(voices)
    if isinstance(told := more.get("voices"), dict):
        table.update(told)
    ctx = ToolContext(
        db=Database(line),
        session_id=caller.chat or caller.session,
        workdir=Path(work) if work else None,
        approval=Gate(line),
        mode="work" if caller.mode == "work" else "companion",
        channel=channel,
        mcp=Servers(servers) if isinstance(servers, dict) and servers else None,
        soul_patterns=table,
        user_text=caller.user_text,
        call_id=line.call,
        excluded_tools=frozenset(map(str, _listed(more.get("withheld")))),
    )
    texts = _listed(more.get("texts")) or ([caller.user_text] if caller.user_text else [])
    vars(ctx).update(
        run_id=run_id(caller, line.call), user_texts=texts[:TEXTS], announce_turn=False, register=channel, _sources={}
    )
    return ctx


def run_id(caller: Caller, call: str) -> str:
    """Eight hexadecimal digits, the same for a whole turn; the turn's own where it has some."""
    given = caller.turn or call
    found = re.search(r"[0-9a-f]{8}", given)
    return found[0] if found else hashlib.sha256(given.encode("utf-8", "replace")).hexdigest()[:8]


def _listed(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _uncited(value: Any) -> Any:
    """The same value without the marks of citations."""
    if isinstance(value, str):
        return value if value.isascii() else _CITED.sub("", value)
    if isinstance(value, dict):
        return {_uncited(key): _uncited(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_uncited(inner) for inner in value]
    return value


def _notice_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """From now on the loop notes, for each task, the call that started it."""
    if loop.get_task_factory() is None:
        loop.set_task_factory(_task)


def _task(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> asyncio.Task[Any]:
    task = asyncio.Task(work, loop=loop, **options)
    if (tasks := _TASKS.get()) is not None:
        tasks.add(task)
    return task


async def _nothing_goes_on(tasks: weakref.WeakSet[asyncio.Task[Any]], before: set[threading.Thread]) -> None:
    """End what a stopped call has started. Does not return while a thread of it runs: no thread can be stopped."""
    running = [task for task in tasks if not task.done() and task is not asyncio.current_task()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running)
    for thread in set(threading.enumerate()) - before:
        if not thread.name.startswith("tool_"):  # those of the loop's own pool wait for work
            await asyncio.to_thread(thread.join)
