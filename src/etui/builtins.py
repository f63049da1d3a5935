"""The tools that the host itself runs, through the one door like every other: they let a person in before anything else can.

A Runner for `Session`, as `run.workers` is one. Above: `host`. Below: the nouns; what a tool does is handed in.
It refuses to know: PINs, and when a tool is offered, which is the session's to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from etui.outcome import Outcome, Status
from etui.run import Job
from etui.tool import BUILT_IN, Checks, Risk, Tool

SUBMIT_PIN = Tool(
    name="submit_pin",
    description=(
        "Submit the owner's PIN when the person says it, right after a tool answered that it is needed. Pass the digits as "
        "they were said. Do not repeat them, and do not announce that you are checking them. Where the person's words show "
        "[PIN], it was already submitted: do not call this."
    ),
    parameters={
        "type": "object",
        "properties": {"pin": {"type": "string", "description": "The six to eight digits, as they were said."}},
        "required": ["pin"],
    },
    contract=BUILT_IN,
    plugin=BUILT_IN,
    source=BUILT_IN,
    toolset=BUILT_IN,
    risk=Risk.READ,
    checks=Checks.PASS,
    secrets=("pin",),
)
TOOLS: Mapping[str, Tool] = MappingProxyType({tool.name: tool for tool in (SUBMIT_PIN,)})
"""By name; no plugin, whatever its contract, can have one of these names."""


class BuiltIn:
    """Runs them; `etui.run.Runner`."""

    def __init__(self, good: frozenset[str]) -> None:
        """`good` are the words for an end that went well; what a tool does is asked of the job's own services, by its name."""
        self._good = good

    async def run(self, job: Job) -> Outcome:
        """Run it to its one end. Raises nothing but CancelledError."""
        done = await job.serve(job.tool.name, job.arguments)
        payload = done if isinstance(done, dict) else {}
        good = payload.get("status") in self._good
        return Outcome(
            status=Status.OK if good else Status.REFUSED,
            rule="" if good else "tool",
            text=msgspec.json.encode(payload).decode(),
            shown=str(payload.get("message", "")),
            data=payload,
        )
