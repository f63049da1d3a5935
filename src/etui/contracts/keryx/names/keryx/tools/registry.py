"""`keryx.tools.registry`: the registry and the context of a call. Above: tool files. Below: `contracts.keryx`.

It refuses to know: the host's own registry.
"""

from etui.contracts.keryx.context import ToolContext
from etui.contracts.keryx.registry import ToolHandler, ToolRegistry
from etui.contracts.keryx.trust import TrustLevel

__all__ = ["ToolContext", "ToolHandler", "ToolRegistry", "TrustLevel"]
