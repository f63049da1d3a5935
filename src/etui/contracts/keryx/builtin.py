"""The names of Keryx's own built-in tools, which no tool file may take, offered here or not.

Above: `folder`, the contract, `names`. It refuses to know: what those tools do.
"""

from __future__ import annotations

BUILTIN_TOOL_NAMES = (
    "web_search",
    "dispatch_task",
    "list_tasks",
    "get_task_status",
    "get_task_result",
    "mark_reported",
    "recall",
    "send_followup",
    "cancel_task",
    "list_projects",
    "request_callback",
    "restart_service",
    "list_pending_approvals",
    "answer_approval",
    "set_config",
    "submit_pin",
    "end_session",
)
"""In the order in which Keryx offers them."""
