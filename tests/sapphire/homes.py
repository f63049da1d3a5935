"""A whole host with Sapphire's plugins and a scripted model: what the tests of this contract share.

`async with sapphire(tmp_path, {"plugins/p/tools/a.py": tool("f"), "functions/b.py": tool("g")}) as room:` writes the files
below the root that a home has, each plugin with the manifest that it lacks and switched on, and opens a host with real workers.
`room.call(...)` is a call through a session's door, `room.turn("hello", [call("f")], "Done.")` a turn of the scripted model.
`checkout=True` writes them as an installation of their own, which the settings name as a source.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.kotoba.homes import Room as AnyRoom
from tests.kotoba.homes import write
from tests.spine.homes import LONG, host_at

from etui.agent.scripted import Scripted
from etui.events import Listener
from etui.host import Host
from etui.outcome import Outcome

SAMPLE = '''ENABLED = True
EMOJI = '🔧'
AVAILABLE_FUNCTIONS = ['my_tool_do_thing']

TOOLS = [
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "my_tool_do_thing",
            "description": "Does the thing",
            "parameters": {
                "type": "object",
                "properties": {
                    "target": {
                        "type": "string",
                        "description": "What to do it to"
                    }
                },
                "required": ["target"]
            }
        }
    }
]

def execute(function_name, arguments, config, plugin_settings=None, credentials=None):
    """Called by function manager."""
    if function_name == "my_tool_do_thing":
        target = arguments.get("target", "")
        return f"Did the thing to {target}", True
    return "Unknown function", False
'''
"""The tool file of the authors' page."""
_FOLDER = re.compile(r"(?P<folder>(?:core/|user/)?plugins/(?P<name>[^/]+))/")
"""Where a plugin lies, by one of its files."""


def schema(name: str, properties: Mapping[str, object] | None = None, **flags: object) -> dict[str, object]:
    """One entry of TOOLS: flags stand beside `function`."""
    function = {
        "name": name,
        "description": f"Do {name}.",
        "parameters": {"type": "object", "properties": dict(properties or {}), "required": []},
    }
    return {"type": "function", **flags, "function": function}


def tool(
    *names: str,
    body: str = 'return "done", True',
    head: str = "",
    signature: str = "function_name, arguments, config",
    properties: Mapping[str, object] | None = None,
    **flags: object,
) -> str:
    """A tool file with these tools (`f` if none is named), whose `execute` has this body; `head` stands above everything."""
    listed = [schema(name, properties, **flags) for name in names or ("f",)]
    return f"""{textwrap.dedent(head)}
TOOLS = {listed!r}


def execute({signature}):
{textwrap.indent(textwrap.dedent(body).strip(), "    ")}
"""


def manifest(name: str, *tools: str, **more: object) -> str:
    """A plugin.json that lists these tool files; what is no key of the top level goes into its capabilities."""
    top = {
        key: more.pop(key)
        for key in ("version", "description", "priority", "icon", "default_enabled", "privacy_aware", "pip_dependencies", "url")
        if key in more
    }
    return json.dumps({"name": name, **top, "capabilities": {"tools": list(tools), **more}})


def whole(files: Mapping[str, str | bytes]) -> dict[str, str | bytes]:
    """The files, and a manifest for each plugin that lacks one: it lists every file in its `tools/`."""
    found = dict(files)
    for path in files:
        place = _FOLDER.match(path)
        if place is None or f"{place['folder']}/plugin.json" in found:
            continue
        inside = place["folder"] + "/"
        listed = sorted(one.removeprefix(inside) for one in files if re.fullmatch(re.escape(inside) + r"tools/[^/]+\.py", one))
        found[f"{inside}plugin.json"] = manifest(place["name"], *listed)
    return found


def named(files: Mapping[str, str | bytes]) -> list[str]:
    """The plugins that these files are, as their manifests call them; one whose manifest cannot be read, as its folder."""
    names = []
    for path, text in files.items():
        place = _FOLDER.match(path)
        if place is None or path != f"{place['folder']}/plugin.json":
            continue
        try:
            told = json.loads(text)
        except ValueError:
            told = None
        names.append(told["name"] if isinstance(told, dict) and isinstance(told.get("name"), str) else place["name"])
    return sorted(set(names))


def save(root: Path, files: Mapping[str, str | bytes], on: tuple[str, ...] | None = None) -> None:
    """Write the files below a root, with manifests, and switch on these plugins (all of them)."""
    files = whole(files)
    write(root, files)
    switches = root / "user" / "webui" / "plugins.json"
    if "user/webui/plugins.json" not in files:
        switches.parent.mkdir(parents=True, exist_ok=True)
        switches.write_text(json.dumps({"enabled": named(files) if on is None else list(on)}))


class Room(AnyRoom):
    """A host, the root of its Sapphire plugins, its scripted model, and every event since it opened."""

    def __init__(self, host: Host, root: Path, model: Scripted, heard: Listener) -> None:
        super().__init__(host, root, model, heard)
        self.root = root
        """What the plugins take for the whole installation."""

    @property
    def user(self) -> Path:
        """What they may write."""
        return self.root / "user"

    def tools(self) -> list[str]:
        """The names of all tools that there are."""
        return [tool.name for tool in self.host.tools.all()]

    def tool(self, name: str) -> Any:
        """One of them."""
        return self.host.registry.snapshot.tools[name]

    def reasons(self, plugin: str = "") -> list[str]:
        """What the owner reads, of one plugin or of all: what it is about, the reason, and what to do."""
        problems = [one for one in self.host.problems.all() if plugin in ("", one.plugin)]
        return [f"{one.what}: {one.reason} {one.hint}".rstrip() for one in problems]

    async def ran(self, name: str, arguments: object = None, **session: Any) -> tuple[str, bool]:
        """Text and success of one call through a session's door."""
        outcome = await self.call(name, arguments, **session)
        return outcome.text, outcome.ok

    async def value(self, name: str, arguments: object = None, **session: Any) -> Any:
        """What a call returned that gives JSON for its text."""
        text, ok = await self.ran(name, arguments, **session)
        assert ok, text
        return json.loads(text)

    async def handled(self, plugin: str, kind: str, **arguments: object) -> Outcome:
        """One run of the first handler of that kind that a plugin has, as the host runs it."""
        found = self.host.registry.snapshot.plugins[plugin]
        handler = next(one for one in found.handlers if one.kind == kind)
        return await self.host.happening.handlers.run(found, handler, arguments)

    async def refreshed(self) -> None:
        """Everything that was written in the folders is known."""
        await self.host._tooling.catalogue.refresh()


@asynccontextmanager
async def sapphire(
    path: Path,
    files: Mapping[str, str | bytes],
    *,
    on: tuple[str, ...] | None = None,
    checkout: bool = False,
    clock: Callable[[], float] | None = None,
    environ: Mapping[str, str] | None = None,
    limit: float | None = LONG,
    **settings: object,
) -> AsyncIterator[Room]:
    """A host on `path/home` with these files below its root; `on` names the plugins that are switched on, all if it is None.

    A host that many tests share has no `limit`: it is opened and closed by different tasks.
    """
    root = path / "checkout" if checkout else path / "home" / "sapphire"
    save(root, files, on)
    if checkout:
        settings = {"sources": [{"path": str(root), "contract": "sapphire"}], **settings}
    model = Scripted([])
    async with (
        host_at(path / "home", model=model, clock=clock, environ=environ, limit=limit, **settings) as host,
        host.hub.listen(limit=100_000) as heard,
    ):
        yield Room(host, root, model, heard)
