"""The tool maker: the assistant writes a tool, the person approves its code, and it can be called in the same conversation.

Above: whoever speaks to the assistant. Below: the host, which checks the code, asks the person, saves it as a plugin of
Sapphire's kind and loads it. An ordinary tool file. It refuses to know: what is allowed in such code, and where it is kept.
"""

from __future__ import annotations

from typing import Annotated

from etui import Context, tool


@tool(
    toolset="toolmaker",
    mode="conversation",
    risk="write",
    pin=True,
    timeout=120,
    examples=[
        "save a new tool called {name} with the code {code}",
        "save the tool {name} with this code: {code}",
        "write a tool {name} with the code {code}",
        "make a plugin {name} out of this code: {code}",
        "turn this code into the tool {name}: {code}",
        "replace the code of the tool {name} by {code}",
    ],
)
def tool_save(
    ctx: Context,
    name: Annotated[str, "Name of the plugin: lower-case letters, digits and underscores."],
    code: Annotated[
        str,
        "The whole Python file. It needs ENABLED = True; EMOJI; AVAILABLE_FUNCTIONS, a list of the tools' names; TOOLS, a list "
        "of {'type': 'function', 'is_local': True, 'function': {'name', 'description', 'parameters'}}; and "
        "def execute(function_name, arguments, config), which returns (text, success). SETTINGS, a dict of defaults, may be.",
    ],
) -> str:
    """Write a new tool, or a new version of one: its code is checked, shown to the person for approval, saved and loaded."""
    return ctx.save_tool(name, code)


@tool(
    toolset="toolmaker",
    mode="conversation",
    pin=True,
    examples=[
        "show me the code of the tool {name}",
        "read the code of the tool {name}",
        "show the source of the tool {name}",
        "what is the code of the tool {name}",
        "which tools did you write yourself",
        "list the tools that you wrote yourself",
    ],
)
def tool_read(
    ctx: Context, name: Annotated[str, "Name of the plugin; empty for the list of those that were written so."] = ""
) -> str:
    """Read the code of a tool that was written with tool_save, or list those that there are."""
    return ctx.read_tool(name)


@tool(
    toolset="toolmaker",
    mode="conversation",
    pin=True,
    examples=[
        "load the tools that you wrote",
        "load the new tools",
        "load the tools that you wrote yourself again",
        "reload the tools that you wrote",
        "reload your own tools",
        "look for the new tools that you wrote",
    ],
)
def tool_load(ctx: Context) -> str:
    """Load the tools that were written with tool_save, so that this conversation can call them."""
    return ctx.load_tools()
