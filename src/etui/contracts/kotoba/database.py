"""`ctx.db`: the person's own chats, and what this plugin itself keeps; everything else of Kotoba's database is not here.

Above: `context` gives each call one. Below: the worker's side of the wire. It refuses to know: where the host keeps things.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, NoReturn

from etui.contracts import Line

KEYS, PROFILE = "keys/", "profile/"
"""Under what in the plugin's own state its keys, and what it noted about the person, are kept."""

PRODUCT = frozenset(
    {
        *("connect", "close", "fetch_soul_config", "seed_soul_config", "sync_soul_config_fields", "update_soul_config"),
        *("insert_turn", "insert_audit_log", "repeated_turn_report", "insert_cronjob", "list_cronjobs", "due_cronjobs"),
        *("mark_cronjob_fired", "reschedule_cronjob", "deactivate_cronjob", "purge_finished_cronjobs"),
        *("save_approved_command", "list_approved_commands", "delete_approved_command"),
        *("upsert_discord_person", "list_discord_people", "add_person_fact", "person_facts"),
    }
)
"""Methods of Kotoba's database that belong to its product and have no counterpart here."""


class Database:
    """What a tool may read and keep; every method is awaited."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def __getattr__(self, name: str) -> Callable[..., Awaitable[NoReturn]]:
        if name not in PRODUCT:
            raise AttributeError(f"ctx.db has no method {name!r}.")

        async def missing(*_: object, **__: object) -> NoReturn:
            raise NotImplementedError(f"ctx.db.{name}() belongs to Kotoba itself and has no counterpart here.")

        return missing

    async def search_turns(self, query: str, limit: int = 5) -> list[dict[str, Any]]:
        """What was said in chats that are not private and fits the query, the best first."""
        return [_turn(one) for one in await self._list("chats.search", query=str(query), limit=int(limit))]

    async def fetch_recent_turns(self, session_id: str | None, limit: int = 20) -> list[dict[str, Any]]:
        """What was said last in a chat, oldest first; of this chat for this session's id."""
        if not session_id:
            return []
        own = session_id == self._line.caller.session
        found = await self._list("chats.recent", chat=self._line.caller.chat if own else str(session_id), limit=int(limit))
        return [{"role": one["role"], "content": one["text"]} for one in found]

    async def count_turns(self) -> int:
        """How many things were said in chats that are not private."""
        count: Any = await self._line.ask("chats.count")
        return int(count)

    async def list_sessions(self, limit: int = 20) -> list[dict[str, Any]]:
        """The chats that are not private, the newest first: `id`, `started_at`, `turns`, `opened`."""
        return [
            {"id": one["id"], "started_at": moment(one["created"]), "turns": one["count"], "opened": one["first"]}
            for one in await self._list("chats.list", limit=int(limit))
        ]

    async def ensure_session(self, session_id: str) -> None:
        """Nothing: a chat is there before a tool of it runs."""

    async def fetch_audit_log(self, limit: int = 50) -> list[dict[str, Any]]:
        """What this plugin's tools did last, the newest first."""
        return [
            {
                **{name: one[name] for name in ("action", "approved", "approver", "detail", "authority")},
                "id": one["call"],
                "session_id": one["chat"] or one["session"],
                "risk_kind": one["risk"],
                "created_at": moment(one["at"]),
            }
            for one in await self._list("audit.recent", limit=int(limit))
        ]

    async def save_key(self, name: str, value: str) -> None:
        """Keep a secret of this plugin's own."""
        await self._line.ask("state.put", key=KEYS + str(name), value=str(value or ""))

    async def get_key(self, name: str) -> str | None:
        """A secret that this plugin itself kept, or None."""
        return await self._text(KEYS + str(name))

    async def list_key_names(self) -> list[dict[str, Any]]:
        """The names of the secrets that this plugin itself kept."""
        return [{"name": name} for name in await self._names(KEYS)]

    async def delete_key(self, name: str) -> None:
        """Forget one of them; one that is not there is fine."""
        await self._line.ask("state.delete", key=KEYS + str(name))

    async def upsert_user_profile(self, key: str, value: str) -> None:
        """Note something about the person, for this plugin."""
        await self._line.ask("state.put", key=PROFILE + str(key), value=str(value))

    async def fetch_user_profile(self) -> dict[str, str]:
        """What this plugin noted about the person."""
        return {name: await self._text(PROFILE + name) or "" for name in await self._names(PROFILE)}

    async def fetch_user_profile_as_markdown(self) -> str:
        """The same as a Markdown list."""
        return "\n".join(f"- {name}: {value}" for name, value in (await self.fetch_user_profile()).items())

    async def fetch_active_memory_facts(self) -> list[str]:
        """The same as plain values."""
        return list((await self.fetch_user_profile()).values())

    async def _text(self, key: str) -> str | None:
        found: Any = await self._line.ask("state.get", key=key)
        return None if found is None else str(found[0])

    async def _names(self, prefix: str) -> list[str]:
        keys: Any = await self._line.ask("state.keys", prefix=prefix)
        return [str(key)[len(prefix) :] for key in keys]

    async def _list(self, service: str, **args: object) -> list[dict[str, Any]]:
        found: Any = await self._line.ask(service, **args)
        return list(found)


def _turn(one: dict[str, Any]) -> dict[str, Any]:
    return {
        "session_id": one["chat"],
        "role": one["role"],
        "content": one["text"],
        "created_at": moment(one["at"]),
        "started_at": moment(one["created"]),
    }


def moment(at: float) -> str:
    """Seconds since the epoch as SQLite writes a moment: UTC, `2026-04-01 09:00:00`."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")
