"""`keryx.tools`: the context of a call and the registry. Above: tool files. Below: `contracts.keryx`.

It refuses to know: the host.
"""

from etui.contracts.keryx.context import ToolContext
from etui.contracts.keryx.registry import ToolRegistry

__all__ = ["ToolContext", "ToolRegistry"]
