"""What `etui doctor` prints: where things are kept, what runs the tools, and what this machine can hold them to.

Above: surfaces. Below: `home`, the registry, and what is handed in. It refuses to know: how the machine was asked, and how any
of it is shown.
"""

from __future__ import annotations

import asyncio
import platform
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from etui.front.problems import Problems
from etui.home import Home
from etui.registry import Registry


class Report:
    """The report of one host, in JSON values."""

    def __init__(
        self,
        home: Home,
        registry: Registry,
        problems: Problems,
        *,
        machine: object,
        python: Callable[[], str],
        workers: Callable[[], object],
        secrets: Callable[[], str],
        answers: Callable[[], dict[str, str]],
    ) -> None:
        """`machine` is what it can enforce, `python` what tools run in, `workers` those that live, `answers` what answers.

        `secrets` says where secrets lie; it may take its time, so it is asked in a thread.
        """
        self._home = home
        self._registry = registry
        self._problems = problems
        self._machine = machine
        self._python = python
        self._workers = workers
        self._secrets = secrets
        self._answers = answers

    async def whole(self) -> dict[str, Any]:
        """All of it."""
        secrets = await asyncio.to_thread(self._secrets)
        snapshot = self._registry.snapshot
        return {
            "etui": {"version": version("etui"), "python": platform.python_version(), "system": platform.platform()},
            "kept_in": {
                "home": str(self._home.path),
                "tools": str(self._home.tools),
                "settings": str(self._home.config),
                "secrets": secrets,
            },
            "enforced": self.enforced(),
            "tools_run_in": self._tools_run_in(),
            "answers": self._answers(),
            "tools": {
                "tools": len(snapshot.tools),
                "plugins": len(snapshot.plugins),
                "refused": len([problem for problem in self._problems.all() if problem.refused]),
            },
            "workers": msgspec.to_builtins(self._workers()),
        }

    def enforced(self) -> dict[str, Any]:
        """What this machine holds a worker to, and by what."""
        return dict(msgspec.to_builtins(self._machine))

    def _tools_run_in(self) -> str:
        python = self._python()
        if python == sys.executable:
            return "the host's own Python environment; `etui setup` makes one of their own"
        return str(Path(python).parent.parent)
