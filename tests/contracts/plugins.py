"""What the contract tests share: plugins written to a folder, a line to a host that is not there, and one call."""

from __future__ import annotations

import asyncio
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from etui.contracts import Caller, Description, Files, Ran, find
from etui.errors import ServiceError
from etui.tool import Tool


class Host:
    """Stands at the other end of the wire: keeps state, notes what was asked, answers as it was told to."""

    def __init__(self, caller: Caller | None = None) -> None:
        self.call = "call_1"
        self.caller = caller or Caller(channel="console", trust="full", timezone="Europe/Berlin")
        self.asked: list[tuple[str, dict[str, object]]] = []
        self.said: list[str] = []
        self.steps: list[tuple[float | None, str]] = []
        self.answers: dict[str, object] = {}
        self.values: dict[str, tuple[object, int]] = {}
        self.before_swap: list[object] = []
        """Values that somebody else writes just before the next swaps."""

    async def ask(self, service: str, **args: object) -> object:
        await asyncio.sleep(0)
        return self.ask_sync(service, **args)

    def ask_sync(self, service: str, **args: object) -> object:
        self.asked.append((service, args))
        if service in self.answers:
            answer = self.answers[service]
            if isinstance(answer, ServiceError):
                raise answer
            return answer
        return getattr(self, service.replace(".", "_"))(**args)

    def say(self, text: str) -> None:
        self.said.append(text)

    def progress(self, fraction: float | None, text: str) -> None:
        self.steps.append((fraction, text))

    def state_get(self, key: str) -> object:
        found = self.values.get(key)
        return None if found is None else list(found)

    def state_put(self, key: str, value: object) -> None:
        self.values[key] = (value, self._version(key) + 1)

    def state_swap(self, key: str, value: object, version: int) -> bool:
        if self.before_swap:
            self.state_put(key, self.before_swap.pop(0))
        if self._version(key) != version:
            return False
        self.state_put(key, value)
        return True

    def state_delete(self, key: str) -> None:
        self.values.pop(key, None)

    def state_keys(self, prefix: str) -> list[str]:
        return sorted(key for key in self.values if key.startswith(prefix))

    def _version(self, key: str) -> int:
        return self.values.get(key, (None, 0))[1]


class Written:
    """A plugin on disk, described by its contract and ready to be called."""

    def __init__(self, folder: Path, texts: Mapping[str, str | bytes], contract: str, plugin: str) -> None:
        self.folder = folder
        self.plugin = plugin
        self._contract = find(contract)
        self._name = contract
        for name, text in texts.items():
            self.write(name, text)
        self.description = self.describe()

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else textwrap.dedent(text).encode())
        return path

    def describe(self) -> Description:
        files = tuple(sorted(str(path) for path in self.folder.rglob("*.py")))
        path = files[0] if len(files) == 1 and Path(files[0]).parent == self.folder else str(self.folder)
        self.work = self.folder.parent / "work"
        self.work.mkdir(exist_ok=True)
        self.description = self._contract.describe(
            Files(
                plugin=self.plugin,
                source="tests",
                contract=self._name,
                path=path,
                files=files,
                digest="d1",
                work=str(self.work),
            )
        )
        return self.description

    @property
    def tools(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self.description.tools}

    @property
    def refusals(self) -> list[str]:
        return [problem.reason for problem in self.description.problems if problem.refused]

    @property
    def warnings(self) -> list[str]:
        return [problem.reason for problem in self.description.problems if not problem.refused]

    async def call(self, tool: str, arguments: dict[str, Any] | None = None, host: Host | None = None) -> Ran:
        return await self._contract.invoke(tool, arguments or {}, host or Host())
