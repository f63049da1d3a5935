"""The inside of a worker: it reads the wire, hands calls to a contract, and answers each exactly once.

Above: `enter` starts it, confined. Below: `contracts`, `wire`, `line`, `toolloop`. It refuses to know: the host, the grant, the
shapes of tool files. A plugin is imported before the loop runs, as a program would import it. Nothing that a tool raises,
`SystemExit` included, ends the worker; only the host does.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import socket
import struct
import sys
import traceback
from pathlib import Path
from typing import NoReturn

from etui.contracts import VERSIONS, Caller, Contract, Description, Files, Ran, apart, find, standing
from etui.errors import WireError
from etui.outcome import Status
from etui.run import wire
from etui.run.answer import answer, failed, unsent
from etui.run.channel import Channel
from etui.run.enforced import Enforced
from etui.run.line import CallLine, Post
from etui.run.toolloop import CALL, ToolLoop
from etui.tool import Problem


def contract_at(path: str) -> Contract:
    """The `CONTRACT` of that file."""
    spec = importlib.util.spec_from_file_location("etui_given_contract", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"no contract at {path!r}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    contract: Contract = module.CONTRACT
    return contract


def contract_for(files: Files) -> Contract | None:
    """The contract that the files are written in; None if no contract knows any of them.

    What is empty, or no Python, goes to the first, which says what is wrong with it.
    """
    if files.contract != "auto":
        return find(files.contract)
    sources = [Path(path).read_text(encoding="utf-8-sig", errors="replace") for path in files.files]
    for name in VERSIONS:
        contract = find(name)
        if any(contract.recognises(source) for source in sources):
            return contract
    if not any(source.strip() for source in sources) or not all(map(_is_python, files.files)):
        return find(next(iter(VERSIONS)))
    return None


def _is_python(path: str) -> bool:
    try:
        compile(Path(path).read_bytes(), path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


class Child:
    """One worker: the contract, its running calls and its wire."""

    def __init__(self, contract: Contract, end: socket.socket, loop: ToolLoop) -> None:
        self._contract = contract
        self._loop = loop
        self._calls: dict[int, asyncio.Task[None]] = {}
        self._channel = Channel(loop, end, self._receive, lambda _: os._exit(0))
        self._post = Post(loop, self._channel)
        apart.give(CallLine(wire.APART, "", Caller(), self._post))

    def _receive(self, data: bytes) -> None:
        message = wire.for_worker(data)
        if type(message) is wire.Invoke:
            task = self._loop.begin(self._run(message))
            if not task.done():
                self._calls[message.id] = task
        else:
            self._receive_other(message)

    def _receive_other(self, message: wire.ToWorker) -> None:
        match message:
            case wire.Cancel():
                running = self._calls.get(message.id)
                if running is not None:
                    running.cancel()
                    self._post.abandon(message.id)
            case wire.Reply():
                self._post.settle(message)
            case wire.Told():
                standing.note(message.session, message.standing)
            case wire.Stop():
                leave(0)
            case _:
                raise WireError("a second plugin was sent")

    async def _run(self, message: wire.Invoke) -> None:
        number = message.id
        CALL.set(number)
        line = CallLine(number, message.call, message.caller, self._post)
        try:
            if message.check:
                usable = await self._contract.available(message.tool)
                done = answer(number, Ran(status=Status.OK, data=bool(usable)))
            else:
                arguments = wire.from_json(message.arguments)
                done = answer(number, await self._contract.invoke(message.tool, arguments, line))  # type: ignore[arg-type]
        except asyncio.CancelledError:
            await self._loop.threads_ended(number)
            done = wire.Done(number, "cancelled")
        except BaseException as error:  # a tool may raise anything, and it is one failed call
            done = failed(number, error)
        finally:
            line.close()
            self._loop.forget(number)
            self._calls.pop(number, None)
        self._channel.send(framed(done))
        if not self._calls:
            self._loop.expect()


def framed(done: wire.Done) -> bytearray:
    """The answer to a call; one that is too big is a failed call."""
    try:
        return wire.frame(done)
    except (WireError, MemoryError) as error:
        return wire.frame(unsent(done.id, error))


def leave(status: int) -> NoReturn:
    """End this process now, whatever threads it has."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue  # a tool may have closed or replaced it
    os._exit(status)


def _first(end: socket.socket) -> wire.Load:
    """Wait for the plugin; if the host goes away instead, so does the worker."""
    head = end.recv(wire.HEADER, socket.MSG_WAITALL)
    if len(head) < wire.HEADER:
        leave(0)
    (size,) = struct.unpack(">I", head)
    message = wire.for_worker(end.recv(size, socket.MSG_WAITALL))
    if not isinstance(message, wire.Load):
        leave(0)
    return message


def describe(load: wire.Load) -> tuple[Contract | None, Description]:
    """The contract, with the plugin imported, and what it offers. Raises nothing."""
    files = load.files
    try:
        contract = contract_at(load.contract) if load.contract else contract_for(files)
        if contract is None:
            reason = "It offers no tool: no contract knows a file like this."
            hint = "Put `@tool` above a function: `from etui import tool`."
            return None, Description(
                problems=(Problem(what=files.plugin, reason=reason, hint=hint, file=files.path, plugin=files.plugin),)
            )
        return contract, contract.describe(files)
    except BaseException as error:  # a plugin may raise anything while it is imported, and a contract may have a fault
        ended = isinstance(error, SystemExit | KeyboardInterrupt)
        reason = (
            "It tried to end the program while it was loaded." if ended else f"It could not be loaded: {type(error).__name__}."
        )
        trace = "".join(traceback.format_exception(error))
        problem = Problem(
            what=files.plugin, reason=reason, file=files.path, plugin=files.plugin, source=files.source, trace=trace
        )
        return None, Description(contract=files.contract, problems=(problem,))


def _described(description: Description) -> bytearray:
    try:
        return wire.frame(wire.Described(description))
    except WireError as error:
        problem = Problem(what="the plugin", reason="What it offers cannot be described.", hint=str(error))
        return wire.frame(wire.Described(Description(problems=(problem,))))


def main(end: socket.socket, enforced: Enforced) -> NoReturn:
    """Be a worker on this socket until the host closes it or says so."""
    try:
        end.sendall(wire.frame(wire.Ready(os.getpid(), enforced)))
        contract, description = describe(_first(end))
        end.sendall(_described(description))
    except OSError:
        leave(0)  # the host has gone
    if contract is None:
        contract = Nothing(description)
    loop = ToolLoop()
    asyncio.set_event_loop(loop)
    Child(contract, end, loop)
    while True:
        try:
            loop.run_forever()
        except BaseException:  # a tool's own task raised SystemExit or the like; the loop goes on
            traceback.print_exc()


class Nothing:
    """Stands for the contract of a plugin that could not be loaded: every call fails with the reason."""

    name = "nothing"

    def __init__(self, description: Description) -> None:
        self._problem = description.problems[0]

    def recognises(self, source: str) -> bool:
        """No file is written for it."""
        return False

    def describe(self, files: Files) -> Description:
        """The one problem."""
        return Description(problems=(self._problem,))

    async def available(self, tool: str) -> bool:
        """Nothing is."""
        return False

    async def invoke(self, tool: str, arguments: dict[str, object], line: object) -> Ran:
        """Fails."""
        return Ran(status=Status.FAILED, text=f"{tool!r} cannot run: {self._problem.reason}", detail=self._problem.trace)
