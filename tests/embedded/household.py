"""The tools that sentences are judged by: the thirteen of `tests/cases/commands.json`, with examples, and other kinds."""

import json
from pathlib import Path

from etui.agent.model import ToolView
from etui.tool import Risk

KINDS = json.loads((Path(__file__).parent / "kinds.json").read_text(encoding="utf-8"))
"""Tools that no other set has, and sentences for them and for the household."""
CASES = json.loads((Path(__file__).parents[1] / "cases" / "commands.json").read_text(encoding="utf-8"))

EXAMPLES = {
    "get_time": [
        "what time is it in {city}",
        "what's the time in {city}",
        "tell me the current time in {city}",
        "{city} time",
        "how late is it in {city}",
        "what does the clock say in {city}",
        "is it morning already in {city}",
    ],
    "set_timer": [
        "set a timer for {amount} {unit}",
        "start a {amount} {unit} timer",
        "set a {amount} {unit} timer",
        "{amount} {unit} timer",
        "count down {amount} {unit}",
        "let me know when {amount} {unit} are up",
        "wake me in {amount} {unit}",
        "give me {amount} {unit} on the clock",
        "time {amount} {unit}",
    ],
    "set_reminder": [
        "remind me to {text} {when}",
        "remind me {when} to {text}",
        "set a reminder to {text} {when}",
        "set a reminder {when} to {text}",
        "set a reminder for {when} to {text}",
        "{when} remind me to {text}",
        "don't let me forget to {text} {when}",
        "I have to {text} {when}, remind me",
        "remind me about {text} {when}",
        "make sure I {text} {when}",
    ],
    "shopping_add": [
        "add {item} to my shopping list",
        "put {item} on the shopping list",
        "put {item} on the list",
        "add {item} to the list",
        "we need {item}",
        "we are out of {item}",
        "we ran out of {item}",
        "write down {item} for the supermarket",
        "I have to buy {item}",
    ],
    "shopping_remove": [
        "remove {item} from my shopping list",
        "take {item} off the shopping list",
        "take {item} off the list",
        "delete {item} from the shopping list",
        "cross {item} off the list",
        "we don't need {item} any more",
        "I already bought {item}",
        "forget the {item} on the list",
    ],
    "shopping_show": [
        "what's on my shopping list",
        "show me the shopping list",
        "read out the shopping list",
        "what do I have to buy",
        "what do we need from the store",
        "is anything on the shopping list",
        "shopping list",
    ],
    "calculate": [
        "what is {expression}",
        "what's {expression}",
        "calculate {expression}",
        "how much is {expression}",
        "work out {expression}",
        "what does {expression} make",
        "{expression}",
        "give me {expression}",
        "compute {expression}",
    ],
    "convert_units": [
        "convert {value} {from_unit} to {to_unit}",
        "how many {to_unit} is {value} {from_unit}",
        "how many {to_unit} are in {value} {from_unit}",
        "what is {value} {from_unit} in {to_unit}",
        "{value} {from_unit} to {to_unit}",
        "{value} {from_unit} in {to_unit}",
        "how much is {value} {from_unit} in {to_unit}",
        "change {value} {from_unit} into {to_unit}",
        "turn {value} {from_unit} into {to_unit}",
    ],
    "search_notes": [
        "search my notes for {query}",
        "find my notes about {query}",
        "look in my notes for {query}",
        "what did I write about {query}",
        "did I note anything about {query}",
        "do I have a note on {query}",
        "where did I write down {query}",
        "look up {query} in my notes",
    ],
    "get_weather": [
        "what's the weather in {city}",
        "how is the weather in {city}",
        "weather in {city}",
        "is it raining in {city}",
        "how warm is it in {city}",
        "do I need an umbrella in {city}",
        "what's the forecast for {city}",
        "is it cold outside in {city}",
    ],
    "set_lights": [
        "turn {state} the lights in the {room}",
        "turn {state} the {room} lights",
        "turn the {room} lights {state}",
        "switch {state} the light in the {room}",
        "switch the {room} light {state}",
        "lights {state} in the {room}",
        "{room} lights {state}",
        "turn the light {state} in the {room}",
        "it's too dark in the {room}",
        "make it bright in the {room}",
    ],
    "play_music": [
        "play {query}",
        "play me {query}",
        "put on {query}",
        "I want to hear {query}",
        "I'm in the mood for {query}",
        "let's listen to {query}",
        "some {query} music please",
        "start the album {query}",
        "play the song {query}",
    ],
    "send_message": [
        "send a message to {recipient} saying {text}",
        "send {recipient} a message saying {text}",
        "text {recipient}: {text}",
        "text {recipient} that {text}",
        "tell {recipient} that {text}",
        "message {recipient} that {text}",
        "let {recipient} know that {text}",
        "write {recipient} that {text}",
        "send {recipient} a text that {text}",
    ],
}

RISKS = {"get_weather": Risk.NETWORK, "send_message": Risk.NETWORK}
READS = {"get_time", "shopping_show", "calculate", "convert_units", "search_notes"}

TOOLS = tuple(
    ToolView(
        name=tool["name"],
        description=tool["description"],
        parameters=tool["parameters"],
        examples=tuple(EXAMPLES[tool["name"]]),
        risk=RISKS.get(tool["name"], Risk.READ if tool["name"] in READS else Risk.WRITE),
        plugin="household",
    )
    for tool in CASES["tools"]
)

OTHERS: dict[str, tuple[ToolView, ...]] = {
    kind: tuple(
        ToolView(
            name=tool["name"],
            description=tool["description"],
            parameters=tool["parameters"],
            examples=tuple(tool.get("examples", ())),
            risk=Risk(tool.get("risk", "read")),
            plugin=kind,
        )
        for tool in tools
    )
    for kind, tools in KINDS["tools"].items()
}
"""The other kinds of tools, each as the only ones of a session."""
