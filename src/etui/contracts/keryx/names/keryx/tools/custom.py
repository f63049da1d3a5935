"""`keryx.tools.custom`: the decorator, and what loads a folder of tools. Above: tool files. Below: `contracts.keryx`.

It refuses to know: workers.
"""

from etui.contracts.keryx.custom import (
    DEFAULT_TIMEOUT_S,
    LOADING_SETTINGS,
    CustomHandler,
    CustomTool,
    ToolUnavailable,
    custom_tool,
)
from etui.contracts.keryx.folder import Loaded, load_custom_tools, register_custom_tools

__all__ = [
    "DEFAULT_TIMEOUT_S",
    "LOADING_SETTINGS",
    "CustomHandler",
    "CustomTool",
    "Loaded",
    "ToolUnavailable",
    "custom_tool",
    "load_custom_tools",
    "register_custom_tools",
]
