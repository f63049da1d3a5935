"""Chats, their messages and their turns.

A turn is written down together with what the person said, and ended together with its last message, so a turn that the
machine's death cut short is found again in `unfinished`. Above: `agent` and surfaces. Below: `database`.
It refuses to know: models, tools, and what the messages mean.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable
from typing import Literal

import msgspec

from etui.errors import StoreError
from etui.store import blobs, journal, reminders
from etui.store.database import Database, Row, run
from etui.store.encoding import clean, pack, unpack

CHANNEL_OF_JOBS = "job"
"""The channel of a chat in which a background job works; it is no conversation, and not listed as one."""


class ToolCall(msgspec.Struct, frozen=True):
    """A call as a model asked for it."""

    id: str
    tool: str
    arguments: object = msgspec.field(default_factory=dict)
    """A JSON object, or the raw text where it could not be read as one; what is empty is kept as `{}`."""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was said in a chat."""

    id: int = 0
    """Counts up within the database; 0 until it is kept."""
    chat: str
    turn: str = ""
    role: Literal["user", "assistant", "tool", "notice"]
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    """Of an assistant's message: the calls that it makes."""
    call: str = ""
    """Of a tool's message: the call that it answers."""
    tool: str = ""
    """Of a tool's message: the tool's name."""
    images: tuple[str, ...] = ()
    """Ids of blobs."""
    meta: dict[str, object] = msgspec.field(default_factory=dict)
    """Whatever its writer wants back, as JSON values."""
    at: float = 0.0
    """Seconds since the epoch."""
    why: str = ""
    """Only when it is read: why its turn was cut short, as stopped, limit or failed; empty for one that goes on or is done."""


class Chat(msgspec.Struct, frozen=True):
    """One conversation."""

    id: str
    title: str
    channel: str
    private: bool
    created: float
    """Seconds since the epoch."""
    changed: float
    """When it was last added to or renamed, in seconds since the epoch."""


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """From what the person said to the end of the answer."""

    id: str
    chat: str
    session: str = ""
    text: str = ""
    """What the person said."""
    started: float = 0.0
    """Seconds since the epoch; 0 stands for now."""
    ended: float | None = None
    why: str = ""
    """Why it ended: done, stopped, limit or failed."""
    channel: str = "console"
    trust: str = ""
    model: str = ""


_CALLS = msgspec.json.Decoder(tuple[ToolCall, ...])
_IMAGES = msgspec.json.Decoder(tuple[str, ...])
_META = msgspec.json.Decoder(dict[str, object])
_MESSAGE = "id, chat, turn, role, text, calls, call, tool, images, meta, at"
_CHAT = "id, title, channel, private, created, changed"
_TURN = "id, chat, session, text, started, ended, why, channel, trust, model"


class Chats:
    """What was said, by chat."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    def create(self, title: str = "", channel: str = "console", private: bool = False) -> Chat:
        """A new, empty chat."""
        now = self._clock()
        chat = Chat(secrets.token_hex(8), clean(title), clean(channel), private, now, now)
        self._database.write(
            "INSERT INTO chats VALUES (?, ?, ?, ?, ?, ?)", (chat.id, chat.title, chat.channel, private, now, now)
        )
        return chat

    def get(self, id: str) -> Chat | None:
        """The chat, or None where there is none."""
        row = self._database.row(f"SELECT {_CHAT} FROM chats WHERE id = ?", (id,))
        return _chat(row) if row else None

    def all(self, limit: int = 100) -> list[Chat]:
        """The conversations that were changed last, the newest first."""
        rows = self._database.rows(
            f"SELECT {_CHAT} FROM chats WHERE channel <> ? ORDER BY changed DESC, rowid DESC LIMIT ?", (CHANNEL_OF_JOBS, limit)
        )
        return [_chat(row) for row in rows]

    def rename(self, id: str, title: str) -> bool:
        """Give the chat a title; False if there is no such chat."""
        return self._database.write("UPDATE chats SET title = ?, changed = ? WHERE id = ?", (title, self._clock(), id)) > 0

    def delete(self, id: str) -> bool:
        """Delete the chat with its messages, turns, images and files; False if there is no such chat.

        Its calls stay in the journal as what was done and when, without their contents; its reminders stay and lose the link.
        """
        with self._database.change() as connection:
            gone = run(connection, "DELETE FROM chats WHERE id = ?", (id,)).rowcount > 0
            journal.forget_chat(connection, id)
            blobs.forget_chat(connection, id)
            reminders.forget_chat(connection, id)
        return gone

    def clear(self, id: str) -> bool:
        """Forget everything that was said in the chat, with its images and files; False if there is no such chat.

        Its name stays, what was chosen for it, and what plugins keep with it; its calls are treated as when it is deleted.
        """
        with self._database.change() as connection:
            if not run(connection, "UPDATE chats SET changed = ? WHERE id = ?", (self._clock(), id)).rowcount:
                return False
            run(connection, "DELETE FROM messages WHERE chat = ?", (id,))
            run(connection, "DELETE FROM turns WHERE chat = ?", (id,))
            journal.forget_chat(connection, id)
            blobs.forget_chat(connection, id)
        return True

    def add(self, message: Message) -> Message:
        """Keep a message and give it back as kept, with its id and time. Raises StoreError if there is no such chat."""
        with self._database.change() as connection:
            return self._add(connection, message)

    def messages(self, chat: str, after: int = 0) -> list[Message]:
        """The chat's messages with an id greater than `after`, in order."""
        rows = self._database.rows(
            f"SELECT {_MESSAGE}, (SELECT NULLIF(why, 'done') FROM turns WHERE turns.id = messages.turn) FROM messages "
            "WHERE chat = ? AND id > ? ORDER BY id",
            (chat, after),
        )
        return [_message(row) for row in rows]

    def begin_turn(self, turn: Turn, message: Message) -> Message:
        """Write down the turn and what the person said, together. Raises StoreError if the chat is gone or the turn there."""
        started = turn.started or self._clock()
        with self._database.change() as connection:
            kept = self._add(connection, message)
            run(
                connection,
                f"INSERT INTO turns ({_TURN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    turn.id,
                    turn.chat,
                    turn.session,
                    turn.text,
                    started,
                    turn.ended,
                    turn.why,
                    turn.channel,
                    turn.trust,
                    turn.model,
                ),
            )
        return kept

    def end_turn(self, turn_id: str, why: str, message: Message | None = None) -> Message | None:
        """End the turn and keep its last message, together; gives the message as kept.

        A turn that has ended stays as it was, and one whose chat was deleted is gone: then nothing is kept, and None is given.
        """
        with self._database.change() as connection:
            ended = run(
                connection, "UPDATE turns SET ended = ?, why = ? WHERE id = ? AND ended IS NULL", (self._clock(), why, turn_id)
            ).rowcount
            return self._add(connection, message) if ended and message else None

    def unfinished(self) -> list[Turn]:
        """The turns that have begun and not ended, the oldest first."""
        rows = self._database.rows(f"SELECT {_TURN} FROM turns WHERE ended IS NULL ORDER BY started, rowid")
        return [_turn(row) for row in rows]

    def _add(self, connection: sqlite3.Connection, message: Message) -> Message:
        now = self._clock()
        at = message.at or now
        if not run(connection, "UPDATE chats SET changed = ? WHERE id = ?", (now, message.chat)).rowcount:
            raise StoreError(f"There is no chat {message.chat!r}; it may have been deleted.")
        row: Row = (
            message.chat,
            message.turn,
            message.role,
            message.text,
            pack([{"id": call.id, "tool": call.tool, "arguments": _arguments(call.arguments)} for call in message.calls]),
            message.call,
            message.tool,
            pack(message.images),
            pack(message.meta),
            at,
        )
        row = tuple(clean(value) if isinstance(value, str) else value for value in row)
        id = run(
            connection,
            f"INSERT INTO messages ({_MESSAGE}) VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        ).lastrowid
        return _message((id, *row, ""))


def _arguments(sent: object) -> object:
    """Arguments as they are kept and told again to models: an object wherever they can be one, for the next turn's sake."""
    if sent is None or (isinstance(sent, str) and not sent.strip()):
        return {}
    if isinstance(sent, str):
        try:
            read = unpack(sent)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return sent
        return read if isinstance(read, dict) else sent
    return sent


def _message(row: Row) -> Message:
    id, chat, turn, role, text, calls, call, tool, images, meta, at, why = row
    return Message(
        id=id,
        chat=chat,
        turn=turn,
        role=role,
        text=text,
        calls=_CALLS.decode(calls),
        call=call,
        tool=tool,
        images=_IMAGES.decode(images),
        meta=_META.decode(meta),
        at=at,
        why=why or "",
    )


def _chat(row: Row) -> Chat:
    id, title, channel, private, created, changed = row
    return Chat(id, title, channel, bool(private), created, changed)


def _turn(row: Row) -> Turn:
    return Turn(**dict(zip(Turn.__struct_fields__, row, strict=True)))
