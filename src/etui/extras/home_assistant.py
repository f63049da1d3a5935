"""The tool of the plugin `home_assistant`, made from the settings beside its one-line file.

Above: that file, inside a worker. Below: `house`, and what the contract `keryx` makes tools of. It refuses to know: the host;
its token is in the environment that the worker was given.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from etui.contracts.keryx.custom import CustomTool, ToolUnavailable
from etui.extras.asking import Service
from etui.extras.exemplified import Exemplified
from etui.extras.house import ACTIONS, House
from etui.extras.offers import HOME_ASSISTANT
from etui.extras.rows import RowError, read

DESCRIPTION = """\
Control the owner's home through Home Assistant: tell the state of anything in it, turn a light or switch on or off, dim or \
colour a light, set a scene. Call it whenever they ask about or want something of their home. Say what its `spoken` says, in \
one short sentence; if it gives an `error` that names several things, ask which one is meant. Never say entity ids."""
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "action": {
            "type": "string",
            "enum": list(ACTIONS),
            "description": "state: tell how something is. list: name the lights and scenes. on, off, toggle: a light or "
            "switch. scene: set a scene.",
        },
        "name": {
            "type": "string",
            "description": "What is meant, as the person calls it: `kitchen light`, `movie night`, `outside temperature`; or "
            "`all lights`. Not needed for list.",
        },
        "brightness": {"type": "integer", "minimum": 1, "maximum": 100, "description": "Percent, where a light goes on."},
        "colour": {"type": "string", "description": "English name of a colour, where a light goes on."},
    },
    "required": ["action"],
}
EXAMPLES = (
    "turn {action} the {name} light",
    "turn the {name} light {action}",
    "turn {action} the {name}",
    "switch {action} the {name} light",
    "switch the {name} light {action}",
    "turn {action} the {name} light at {brightness} percent",
    "turn {action} the {name} at {brightness} percent",
    "turn {action} the {name} light in {colour}",
    "toggle the {name} light",
    "set the {name} scene",
    "state of the {name}",
    "list my lights",
    "list my lights and scenes",
)


def home_assistant_tool(config_path: Path) -> CustomTool:
    """The tool with the settings of that file. Raises ToolUnavailable, with what to do, where it cannot be used."""
    try:
        values: dict[str, Any] = read(HOME_ASSISTANT, config_path)
    except RowError as error:
        raise ToolUnavailable(str(error)) from None
    secret = HOME_ASSISTANT.secrets[0]
    token = os.environ.get(secret.name, "")
    if not token:
        raise ToolUnavailable(
            f"home_assistant has no token yet: `etui plugins install home_assistant --secret {secret.name}` asks for it"
        )
    if not values["address"]:
        raise ToolUnavailable("home_assistant: address is blank, so nobody knows where Home Assistant is")
    authority = str(config_path.parent / values["certificate"]) if values["certificate"] else ""
    headers = {"authorization": f"Bearer {token}"}
    service = Service("Home Assistant", values["address"], headers, values["timeout_s"], authority)
    house = House(service, values["names"])

    async def home_assistant(ctx: object, args: dict[str, object]) -> dict[str, object]:
        return await house.answer(args)

    return Exemplified(
        name="home_assistant",
        description=DESCRIPTION,
        parameters=PARAMETERS,
        handler=home_assistant,
        needs_pin=True,
        timeout_s=2 * values["timeout_s"] + 5,
        examples=EXAMPLES,
    )
