"""The scopes of the chat as `scope_<key>`, in whose conversation a call is, and what tools there are."""

from etui.contracts.sapphire.functions import FunctionManager
from etui.contracts.sapphire.scoping import tool_context
from etui.contracts.sapphire.scoping import variable as __getattr__

__all__ = ["FunctionManager", "__getattr__", "tool_context"]
