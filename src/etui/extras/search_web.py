"""The tool of the plugin `search_web`, made from the settings beside its one-line file.

Above: that file, inside a worker. Below: `results`, and what the contract `keryx` makes tools of. It refuses to know: the host;
its key is in the environment that the worker was given.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from etui.contracts.keryx.custom import CustomTool, ToolUnavailable
from etui.extras.asking import Service, Trouble
from etui.extras.exemplified import Exemplified
from etui.extras.offers import SEARCH_WEB
from etui.extras.results import from_brave, from_searxng
from etui.extras.rows import RowError, read

DESCRIPTION = """\
Search the web for what is current or not known: news, opening hours, prices, facts. Call it whenever the answer may have \
changed since you learnt it, with a short query in the words that a page would use. Answer from its results in one or two \
sentences and name the site; do not read addresses out."""
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"query": {"type": "string", "description": "What to look up, in a few words."}},
    "required": ["query"],
}
EXAMPLES = (
    "search the web for {query}",
    "search for {query}",
    "search online for {query}",
    "look up {query} on the web",
    "look up {query} online",
    "google {query}",
)
LONGEST = 400
"""Characters of a query; Brave takes no longer one."""


def search_web_tool(config_path: Path) -> CustomTool:
    """The tool with the settings of that file. Raises ToolUnavailable, with what to do, where nobody can be asked."""
    try:
        values: dict[str, Any] = read(SEARCH_WEB, config_path)
    except RowError as error:
        raise ToolUnavailable(str(error)) from None
    provider, service = _provider(values, os.environ.get(SEARCH_WEB.secrets[0].name, ""))
    find = from_searxng if provider == "searxng" else from_brave
    most = max(1, int(values["results"]))

    async def search_web(ctx: object, args: dict[str, object]) -> dict[str, object]:
        query = args.get("query")
        if not isinstance(query, str) or not query.strip():
            return {"error": "query is required: say what to look up"}
        try:
            return await find(service, " ".join(query.split())[:LONGEST], values["language"], most)
        except Trouble as trouble:
            return trouble.payload

    return Exemplified(
        name="search_web",
        description=DESCRIPTION,
        parameters=PARAMETERS,
        handler=search_web,
        needs_pin=False,
        timeout_s=values["timeout_s"] + 5,
        examples=EXAMPLES,
    )


def _provider(values: dict[str, Any], key: str) -> tuple[str, Service]:
    wanted = values["provider"]
    if wanted == "auto":
        wanted = "searxng" if values["searxng"] else "brave"
    if wanted == "searxng":
        if not values["searxng"]:
            raise ToolUnavailable("search_web: searxng is blank, and no SearXNG can be asked without its address")
        return wanted, Service("SearXNG", values["searxng"], {}, values["timeout_s"])
    if not key:
        raise ToolUnavailable(
            "search_web knows nobody to ask yet: `etui plugins install search_web --set searxng=ADDRESS` names a SearXNG, "
            f"`etui plugins install search_web --secret {SEARCH_WEB.secrets[0].name}` asks for a key of Brave"
        )
    return wanted, Service("Brave", values["brave"], {"x-subscription-token": key}, values["timeout_s"])
