"""Every Python block of the contract's page is a tool file that works."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.plugins import Host, Written

from etui.contracts.etui.declaring import OPTIONS

PAGE = (Path(__file__).parents[2] / "docs" / "contracts" / "etui.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)

CALLS: dict[str, list[tuple[dict[str, Any], str, str]]] = {
    "roll": [({"count": 3}, "ok", "[")],
    "light": [
        ({"spot": {"room": "hall"}}, "ok", "The red light in the hall is on."),
        ({"spot": {"room": "hall"}, "colour": "blue"}, "ok", "The blue light"),
    ],
    "plan": [
        ({"day": "sunday"}, "refused", "Sundays are never planned."),
        ({"day": "doomsday"}, "failed", "The calendar has no such day."),
        ({"day": "friday"}, "ok", "The plan for friday."),
    ],
    "count": [({"what": "cups"}, "ok", "1 cups by now, console user.")],
    "ready": [({}, "ok", "Off we go.")],
}


def test_the_page_has_the_blocks_that_are_run_here() -> None:
    assert len(BLOCKS) == len(CALLS)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
async def test_a_block_loads_and_does_what_it_says(write: Callable[..., Written], number: int) -> None:
    plugin = write(BLOCKS[number])
    assert plugin.description.problems == ()
    (tool,) = plugin.description.tools
    host = Host()
    host.answers["ask"] = {"state": "answered", "answer": "yes"}
    for arguments, status, text in CALLS[tool.name]:
        ran = await plugin.call(tool.name, arguments, host)
        assert ran.status == status
        assert ran.text.startswith(text)


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_is_on_the_page(option: str) -> None:
    assert f"`{option}`" in PAGE
