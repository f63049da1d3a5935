"""`kotoba.tools`: what `execute` is handed and may hand back, and the older names. Above: tool files.

Below: `context`, `families`. It refuses to know: other plugins' code; of their tools it has the names and families.
"""

from __future__ import annotations

from etui.contracts.kotoba.context import ToolContext, ToolResult
from etui.contracts.kotoba.families import FUNCTIONS as FUNCTION_TOOLS
from etui.contracts.kotoba.families import MODULES as TOOL_REGISTRY
from etui.contracts.kotoba.families import SCHEMAS as TOOL_SCHEMAS
from etui.contracts.kotoba.families import ToolSpec

from .registry import discover, register, schemas_for

__all__ = [
    "FUNCTION_TOOLS",
    "TOOL_REGISTRY",
    "TOOL_SCHEMAS",
    "ToolContext",
    "ToolResult",
    "ToolSpec",
    "discover",
    "register",
    "schemas_for",
]
