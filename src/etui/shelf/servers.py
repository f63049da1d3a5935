"""A background job asks for the tools of an MCP server: they are hidden until then, so that a model is not shown hundreds.

Above: the model of a job. Below: the host, which knows the servers. An ordinary tool file. It refuses to know: connections.
"""

from __future__ import annotations

from typing import Annotated

from etui import Context, Result, tool

SHOWN = 40
"""Names of tools that are told."""


@tool(
    toolset="mcp",
    mode="work",
    timeout=40,
    examples=[
        "activate the {server} tools",
        "activate the tools of the {server} server",
        "use the {server} server",
        "make the {server} tools usable",
        "switch on the tools of {server}",
        "I need the tools of the {server} server",
    ],
)
def activate_tools(ctx: Context, server: Annotated[str, "The server's name, or a word of it, such as github."]) -> Result:
    """Make the tools of an MCP server usable in this background job, from the next step on; ask for it by its name."""
    found = ctx.activate(server)
    lines = [f"The MCP server {name!r} is active in this job: {_names(tools)}." for name, tools in found.items()]
    return Result("\n".join(lines), data={"servers": {name: list(tools) for name, tools in found.items()}})


def _names(tools: list[str]) -> str:
    more = f" and {len(tools) - SHOWN} more" if len(tools) > SHOWN else ""
    return ", ".join(tools[:SHOWN]) + more if tools else "it offers no tools"
