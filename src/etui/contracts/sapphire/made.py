"""What a file has to have that the tool maker saves, besides being a file with tools.

Above: `reading`, of files that are being tried. Below: nothing. It refuses to know: where the file comes from.
"""

from __future__ import annotations

from types import ModuleType


def complaint(module: ModuleType) -> str:
    """What it lacks; empty where it lacks nothing."""
    listed, names = getattr(module, "TOOLS", None), getattr(module, "AVAILABLE_FUNCTIONS", None)
    if not isinstance(listed, list) or not listed:
        return "TOOLS must be a list with at least one tool"
    if not isinstance(names, list):
        return "AVAILABLE_FUNCTIONS must be a list of the tools' names"
    if not callable(getattr(module, "execute", None)):
        return "There is no function execute()"
    for number, one in enumerate(listed):
        function = one.get("function") if isinstance(one, dict) else None
        name = function.get("name") if isinstance(function, dict) else None
        if not isinstance(function, dict) or not isinstance(name, str) or not name:
            return f"TOOLS[{number}] has no function with a name"
        if not isinstance(function.get("description"), str) or not function["description"].strip():
            return f"The tool '{name}' has no description"
        if name not in names:
            return f"The tool '{name}' is not in AVAILABLE_FUNCTIONS"
    return ""
