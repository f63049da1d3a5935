"""Etui: the tool layer for personal assistants.

What is here is what authors of tool files import. The submodule `etui.tool` holds the nouns and has the decorator's name: it is
imported first, then the decorator takes the name, so that `from etui.tool import Tool` and `from etui import tool` both work.
"""

import etui.tool  # noqa: F401 - before the decorator takes its name
from etui.contracts.etui.authoring import Answer, Refusal, Reminder, Result, ToolError, tool
from etui.contracts.etui.context import AsyncContext, Context

__version__ = "0.1.0"

__all__ = ["Answer", "AsyncContext", "Context", "Refusal", "Reminder", "Result", "ToolError", "tool"]
