"""Tools that are known by their description alone, as those of other assistants' plugins are."""

from __future__ import annotations

import pytest
from tests.embedded.judge import replied

from etui.agent.model import ToolView


def view(name: str, description: str, **properties: dict) -> ToolView:
    needed = [one for one, schema in properties.items() if schema.pop("needed", False)]
    return ToolView(
        name=name, description=description, parameters={"type": "object", "properties": properties, "required": needed}
    )


COUNT = {"type": "integer", "description": "How many (1-10)."}
TOOLS = (
    view("ping", "Reply with pong."),
    view("hn_top", "Get the current top stories on Hacker News, with their titles and links.", count=dict(COUNT)),
    view("hn_newest", "Get the newest stories on Hacker News from the internet.", count=dict(COUNT)),
    view("flip", "Flip a coin."),
    view(
        "roll_dice",
        "Roll dice in the usual notation, like 2d6.",
        notation={"type": "string", "description": "For example 2d6.", "needed": True},
    ),
    view(
        "divide",
        "Divide one number by another.",
        a={"type": "number", "needed": True},
        b={"type": "number", "needed": True},
    ),
    view("brew_tea", "Brew a pot of tea."),
)


@pytest.mark.parametrize(
    ("sentence", "tool", "arguments"),
    [
        ("ping", "ping", {}),
        ("get the top stories on hacker news", "hn_top", {}),
        ("show me the top 3 stories on hacker news", "hn_top", {"count": 3}),
        ("get the newest stories on hacker news", "hn_newest", {}),
        ("get five newest stories on hacker news from the internet", "hn_newest", {"count": 5}),
        ("flip a coin", "flip", {}),
        ("roll dice 2d6", "roll_dice", {"notation": "2d6"}),
        ("divide 6 by 2", "divide", {"a": 6, "b": 2}),
        ("brew a pot of tea", "brew_tea", {}),
    ],
)
def test_a_tool_without_examples_is_called_by_its_description(model, sentence, tool, arguments):
    reply = replied(model, TOOLS, {"text": sentence})
    assert [(wish.tool, wish.arguments) for wish in reply.calls] == [(tool, arguments)]


def test_a_text_holds_the_whole_of_what_was_written_without_a_gap(model):
    reply = replied(model, TOOLS, {"text": "roll 2d6"})
    asked = reply.open.calls if reply.open else reply.calls
    assert [(wish.tool, wish.arguments) for wish in asked] == [("roll_dice", {"notation": "2d6"})]
