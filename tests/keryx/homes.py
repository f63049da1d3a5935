"""What the tests of this contract share: files of tools, one file described by its contract, and a whole host with a folder.

`file = tools(tmp_path, MOON)` asks the contract in this process; `async with keryx(tmp_path, {"moon.py": MOON}) as room` has
real sessions and workers behind a scripted model.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.contracts.plugins import Host as Wire
from tests.contracts.plugins import Written
from tests.kotoba.homes import Room as AnyRoom
from tests.spine.homes import host_at

from etui.agent.scripted import Scripted
from etui.contracts import Caller
from etui.outcome import Outcome
from etui.session import Session

MOON = """from keryx.tools.custom import custom_tool

@custom_tool(
    description="Say the phase of the moon tonight. Answer in one sentence.",
    needs_pin=False,
)
async def moon_phase(ctx, args):
    return {"phase": "waxing gibbous"}
"""
"""The example of the owners' page, to the letter."""


def tool(
    body: str = 'return {"ok": True}',
    *,
    name: str = "x",
    head: str = "",
    options: str = 'description="Do it.", needs_pin=False',
    kind: str = "async def",
) -> str:
    """A file of one tool with this body, something above it (`head`), and these words in its decorator."""
    return f"""{textwrap.dedent(head)}
from keryx.tools.custom import custom_tool

@custom_tool({options})
{kind} {name}(ctx, args):
{textwrap.indent(textwrap.dedent(body).strip(), "    ")}
"""


def save(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Save files in a folder, as its owner alone may write them."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    for name, text in files.items():
        path = folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(0o600)


def tools(path: Path, text: str | Mapping[str, str | bytes], plugin: str = "plugin") -> Written:
    """One file (or several) described by the contract in this process, ready to be called."""
    folder = path / plugin
    folder.mkdir(exist_ok=True)
    return Written(folder, {"main.py": text} if isinstance(text, str) else text, "keryx", plugin)


def wire(**caller: Any) -> Wire:
    """The other end of the wire, in a session with these facts; a phone call of nobody known unless said otherwise."""
    known = {"channel": "phone", "trust": "none", "session": "0123456789abcdef", **caller}
    there = Wire(Caller(**known))
    there.answers = {"session.end": None, "session.tried": None}
    return there


async def payload(file: Written, name: str = "x", arguments: dict[str, Any] | None = None, host: Wire | None = None) -> Any:
    """What the model is given for one call; its text and its data are the same."""
    ran = await file.call(name, arguments, host or wire())
    found = json.loads(ran.text)
    assert found == ran.data
    return found


class Room(AnyRoom):
    """A host, the folder of its owner's tools, its scripted model, and every event since it opened."""

    async def open(self, channel: str = "python", **options: Any) -> Session:
        """A session, with the tools that the folder holds now."""
        return await self.host.sessions.open(channel, **options)

    async def run(self, session: Session, name: str, arguments: object = None) -> Outcome:
        """One call in a session, outside any turn."""
        return await session.call(session.new_call(name, {} if arguments is None else arguments))

    async def payload(self, session: Session, name: str, arguments: object = None) -> Any:
        """What the model would be given for it."""
        return json.loads((await self.run(session, name, arguments)).text)


@asynccontextmanager
async def keryx(
    path: Path,
    files: Mapping[str, str | bytes],
    *,
    clock: Callable[[], float] | None = None,
    environ: Mapping[str, str] | None = None,
    **settings: object,
) -> AsyncIterator[Room]:
    """A host on `path/home` whose one source is `path/data/tools`, holding these files."""
    folder = path / "data" / "tools"
    save(folder, files)
    model = Scripted([])
    row = {"path": str(folder), "contract": "keryx"}
    async with (
        host_at(path / "home", model=model, clock=clock, environ=environ, **{"sources": [row], **settings}) as host,
        host.hub.listen(limit=100_000) as heard,
    ):
        yield Room(host, folder, model, heard)


def timeless(*told: object) -> str:
    """All of it as text, without times and the numbers of events, in which any digits stand sooner or later."""
    return re.sub(r"\d+\.\d+|number=\d+", "", " ".join(map(str, told)))
