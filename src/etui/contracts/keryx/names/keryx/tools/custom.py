"""`keryx.tools.custom`: the decorator, and what loads a folder of tools. Above: tool files. Below: `contracts.keryx`.

It refuses to know: workers.
"""

from etui.contracts.keryx.context import ToolContext
from etui.contracts.keryx.custom import (
    DEFAULT_TIMEOUT_S,
    LOADING_SETTINGS,
    CustomHandler,
    CustomTool,
    ToolUnavailable,
    custom_tool,
)
from etui.contracts.keryx.folder import Loaded, load_custom_tools, register_custom_tools
from etui.contracts.keryx.registry import ToolRegistry
from etui.contracts.keryx.settings import Settings
from etui.contracts.keryx.trust import pin_gate

__all__ = [
    "DEFAULT_TIMEOUT_S",
    "LOADING_SETTINGS",
    "CustomHandler",
    "CustomTool",
    "Loaded",
    "Settings",
    "ToolContext",
    "ToolRegistry",
    "ToolUnavailable",
    "custom_tool",
    "load_custom_tools",
    "pin_gate",
    "register_custom_tools",
]
