"""`get_system()`: the running assistant as plugins reach it, as far as it has a counterpart here; what is missing is not there.

Above: `names/core/api_fastapi`, and the events of hooks and schedules. Below: the rooms whose parts it hands out. It refuses
to know: what the parts do.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from etui.contracts.sapphire import current
from etui.contracts.sapphire.functions import FunctionManager
from etui.contracts.sapphire.tasks import Scheduler


class SessionManager:
    """`session_manager`: the chats by their names."""

    @property
    def active_chat_name(self) -> str:
        """The chat of this call; outside of one, the chat that was last used."""
        return self.get_active_chat_name()

    def get_active_chat_name(self) -> str:
        """The same."""
        return str(current.ask("chats.active"))

    def get_active_chat(self) -> str:
        """The same."""
        return self.get_active_chat_name()

    def list_chat_files(self) -> list[dict[str, Any]]:
        """The chats that are not private, the newest first."""
        found: Any = current.ask("chats.names")
        return [{"name": name, "display_name": name, "is_active": name == found["active"]} for name in found["names"]]

    def get_chat_settings(self) -> dict[str, Any]:
        """What was chosen for the active chat."""
        found: Any = current.ask("chats.choices")
        return dict(found)


class LLMChat:
    """`llm_chat`."""

    @cached_property
    def function_manager(self) -> FunctionManager:
        """What tools there are."""
        return FunctionManager()

    @property
    def tool_engine(self) -> FunctionManager:
        """The same: nobody but the host runs a tool."""
        return self.function_manager

    @cached_property
    def session_manager(self) -> SessionManager:
        """The chats."""
        return SessionManager()

    def get_active_chat(self) -> str:
        """The name of the chat of this call; outside of one, of the chat that was last used."""
        return self.session_manager.get_active_chat_name()


class System:
    """The running assistant. What Etui has no counterpart for is an AttributeError, which plugins ask for with `hasattr`."""

    @cached_property
    def llm_chat(self) -> LLMChat:
        """Chats and tools."""
        return LLMChat()

    @cached_property
    def continuity_scheduler(self) -> Any:
        """What runs by the clock."""
        return Scheduler()


_SYSTEM = System()


def get_system() -> System:
    """The one that there is."""
    return _SYSTEM
