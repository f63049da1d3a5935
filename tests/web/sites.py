"""A whole site for a test: a host with real workers, a model that plays by what is said, and the console on a free port."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from etui.agent.model import Ask, End, Text
from etui.agent.scripted import Scripted, call
from etui.events import Event, Hub, Kind, Listener
from etui.home import Home
from etui.host import Host, open_host
from etui.surfaces.web.guard import cookie_name
from etui.surfaces.web.serve import serve

TOOLS = '''from typing import Annotated, Literal

from etui import Context, Refusal, Result, tool


@tool(examples=["greet {name}", "say hello"])
def greet(name: str = "you", times: Annotated[int, "How often."] = 1, manner: Literal["warm", "cool"] = "warm") -> str:
    """Greet somebody."""
    return f"Hello {name}!" * times


@tool(examples=["add {item} to my list"], risk="write")
def keep(item: str) -> Result:
    """Put something on the list."""
    return Result(f"Kept {item}.", data={"undo": {"tool": "greet", "arguments": {"name": item}}})


@tool(risk="exec")
def shell(command: str) -> str:
    """Run a command."""
    return f"ran {command}"


@tool
def no() -> str:
    """Always refuses."""
    raise Refusal("Not today.")


@tool
def broken() -> str:
    """Always breaks."""
    raise RuntimeError("the inside of it")


@tool
def picture() -> Result:
    """Gives a picture and a file."""
    png = bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc000000301010018dd8db0"
        "0000000049454e44ae426082"
    )
    return Result("Here it is.", images=[png], files=[("page.html", b"<script>alert(1)</script>")])


@tool(pin=True)
def door() -> str:
    """Opens the door."""
    return "It is open."


@tool
def who(ctx: Context) -> str:
    """Says who asks."""
    return f"{ctx.session.channel} {ctx.session.trust}"


@tool(interactive=True)
async def wait(ctx: Context, question: str = "Shall I?", free: bool = False) -> str:
    """Asks and waits."""
    answer = await ctx.ask(question, choices=None if free else ["yes", "no"])
    return f"{answer.state}: {answer.text}"
'''


def by_words(ask: Ask) -> Any:
    """A model that does what it is told: `call NAME {json}` calls, then reads out the result; anything else is answered."""
    last = ask.messages[-1]
    if last.role == "tool":
        return [Text(last.text or "Done."), End()]
    said = last.text
    if said.startswith("call "):
        _, name, *rest = said.split(" ", 2)
        return [call(name, rest[0] if rest else {}, id="c1")]
    if said == "hold":
        return [Text("Beginning"), Text(" and then"), asyncio.Event().wait]
    return [Text("You said: "), Text(said)]


class Site:
    """What a test has at hand."""

    def __init__(self, host: Host, link: str, door: dict[str, Any]) -> None:
        self.host = host
        self.link = link
        self.door = door
        self.port: int = door["port"]
        self.base: str = door["address"]

    def client(self, **headers: str) -> httpx2.AsyncClient:
        """A client that is nobody. The console speaks plain HTTP, so no certificates are read for it."""
        return httpx2.AsyncClient(base_url=self.base, headers=headers, trust_env=False, timeout=20, verify=False)

    def owner(self) -> httpx2.AsyncClient:
        """A client that has the owner's token, as the terminal has."""
        return self.client(authorization=f"Bearer {self.door['token']}")

    @asynccontextmanager
    async def browser(self) -> AsyncIterator[httpx2.AsyncClient]:
        """A client that is signed in as a browser is."""
        path = (await self.post("/api/links"))["path"]
        async with self.client(**{"x-etui": "1"}) as client:
            answer = await client.get(path)
            assert answer.status_code == 303 and cookie_name(self.port) in client.cookies
            yield client

    async def post(self, path: str, value: object | None = None) -> Any:
        """Post as the owner and expect it to go well."""
        async with self.owner() as client:
            answer = await client.post(path, json=value or {})
            assert answer.status_code < 300, answer.text
            return answer.json()

    async def get(self, path: str) -> Any:
        """Get as the owner and expect it to go well."""
        async with self.owner() as client:
            answer = await client.get(path)
            assert answer.status_code == 200, answer.text
            return answer.json()


@asynccontextmanager
async def site_at(
    home: Path,
    *,
    tools: str = TOOLS,
    model: Callable[[Ask], Any] | None = by_words,
    environ: Mapping[str, str] | None = None,
    again: int = 0,
    **rows: object,
) -> AsyncIterator[Site]:
    """A site on this home, on a free port or `again` on the same; gone, with all its processes, when the block ends.

    Without a `model` the chosen one answers, as at a person's.
    """
    (home / "tools").mkdir(parents=True, exist_ok=True)
    if tools:
        (home / "tools" / "things.py").write_text(tools)
    played = Scripted([model] * 1000, name="scripted") if model else None
    overrides = {"shelf": False, "timezone": "Europe/Berlin", **rows}
    async with open_host(Home(home), overrides, environ=environ or {}, model=played) as host:
        told: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(serve(host, "127.0.0.1", again, False, tell=told.set_result, signals=False))
        await asyncio.wait({serving, told}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()
        try:
            yield Site(host, told.result(), json.loads((home / "run.json").read_text()))
        finally:
            serving.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await serving


async def until(events: Listener, kind: Kind, **data: object) -> Event:
    """The next event of this kind whose data holds these values."""
    while (event := await events.next()) is not None:
        if event.kind is kind and all(event.data.get(key) == value for key, value in data.items()):
            return event
    raise AssertionError(f"no {kind} came before the listener closed")


@asynccontextmanager
async def hearing(hub: Hub) -> AsyncIterator[Listener]:
    """A listener for the length of a block; waiting for what never comes fails after ten seconds."""
    async with asyncio.timeout(20), hub.listen() as events:
        yield events
