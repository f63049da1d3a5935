"""What a call was kept from, by the kernel or for want of a variable, told from how it failed; and how the owner can let it.

Above: `ends`. Below: the nouns. It refuses to know: how a grant is enforced. What it reads is a traceback, so it says only what
such a one shows: a tool that caught the error itself has told its own story.
"""

from __future__ import annotations

import re
from pathlib import Path

from etui.tool import Grant, Tool

DENIED = ("[Errno 13] Permission denied", "[Errno 1] Operation not permitted")
"""How Python names what the kernel did not let happen."""
_UNFOUND = ("gaierror", "Temporary failure in name resolution", "Name or service not known")
"""How a name that cannot be looked up shows where there is no network."""
_NETWORK = re.compile(r"\bsocket\b|gaierror|\bgetaddrinfo\b|\bconnect\w*\(|Connect(ion)?Error")
_PROGRAMS = re.compile(r"\bfork\w*\(|_posixsubprocess|\bposix_spawn|\bsubprocess\.py\b|\bos\.(system|exec\w+|spawn\w+|popen)\b")
_VARIABLE = re.compile(
    r"(?:<frozen os>|[/\\]os\.py)\", line \d+, in __getitem__\n(?:.*\n){0,3}?KeyError: '(?P<name>[A-Za-z_]\w*)'\n*\Z", re.ASCII
)
"""How a variable that is not there shows."""
_PATH = re.compile(r"\[Errno 1?[13]\] (?:Permission denied|Operation not permitted): (?P<quote>['\"])(?P<path>.+?)(?P=quote)")


ALONE = "A loose file has nothing but itself: put both into a folder of their own, and they are one plugin."

REPLACED = "Where saving puts a new file in its place, open the folder in which it lies."
"""A file is opened as such, and not its name."""


def lies_beside(tool: Tool, path: str) -> bool:
    """Whether the tool's file is a loose one, and this path is of the folder in which it lies."""
    own = Path(tool.file)
    return bool(tool.file) and own.stem == tool.plugin != own.parent.name and own.parent in Path(path).parents


def beside(tool: Tool, detail: str) -> bool:
    """Whether a traceback shows that the kernel kept a loose file from what lies beside it."""
    found = _PATH.search(detail)
    return found is not None and lies_beside(tool, found["path"])


def denied(detail: str) -> bool:
    """Whether a traceback shows that the kernel said no."""
    return any(sign in detail for sign in DENIED)


def blocked(tool: Tool, grant: Grant, work: str, detail: str) -> str:
    """What the call was kept from and how to allow it, in two sentences; empty where the traceback shows nothing."""
    variable = _VARIABLE.search(detail)
    if variable and variable["name"] not in grant.env:
        name = variable["name"]
        return f"Plugin {tool.plugin!r} was not given the variable {name}. `etui grant {tool.plugin} {name}` gives it."
    unfound = not grant.network and any(sign in detail for sign in _UNFOUND)
    if not denied(detail) and not unfound:
        return ""
    allow = f"`etui grant {tool.plugin} --yes {{part}}` lets it, if you trust it with that."
    if not grant.network and (unfound or _NETWORK.search(detail)):
        return f"Plugin {tool.plugin!r} may not use the network. {allow.format(part='network')}"
    if not grant.subprocess and _PROGRAMS.search(detail):
        return f"Plugin {tool.plugin!r} may not start other programs. {allow.format(part='subprocess')}"
    found = _PATH.search(detail)
    if found is None:
        return f"The kernel did not let plugin {tool.plugin!r} do that. `etui grant {tool.plugin}` shows what it may touch."
    path = found["path"]
    if lies_beside(tool, path):
        return f"{Path(path).name!r} lies beside {Path(tool.file).name!r}. {ALONE}"
    own = [folder for folder in grant.write if folder not in grant.opened]
    if work and not own and Path(work, path).is_relative_to(work):
        return f"Plugin {tool.plugin!r} may not write in the working folder ({path!r}). {allow.format(part='write')}"
    if path in grant.opened:
        may = "read and write" if path in grant.write else "only read"
        return f"Plugin {tool.plugin!r} may {may} {path!r}, and only what lay there when its process started. {REPLACED}"
    kept, opens = own[0] if own else work, f"`etui grant {tool.plugin} --read PATH` (or --write)"
    return f"Plugin {tool.plugin!r} may not touch {path!r}. Its files belong in {kept}; {opens} opens a folder of yours to it."
