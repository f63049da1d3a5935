"""`keryx.tools.builtin`: the names that no tool file may take. Above: tool files. Below: `contracts.keryx`.

It refuses to know: what those tools did in Keryx.
"""

from etui.contracts.keryx.builtin import BUILTIN_TOOL_NAMES

__all__ = ["BUILTIN_TOOL_NAMES"]
