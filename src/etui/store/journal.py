"""Every call, written down when it begins and again when it has ended: what durable turns and the audit are made of.

A call that acts is on the disk before it runs, so that it is found in `running` if the process dies. One that only reads is
written while it runs: it would just be run again. `get`, `of_turn` and `running` give the truth, which a turn that goes on
needs; `recent` and `audit` are for eyes, and masked by `redact`.
Above: `session` writes, `agent` and surfaces read. Below: `database`. It refuses to know: whether a call may run.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import msgspec

from etui.errors import StoreError
from etui.outcome import File, Image, Outcome, Status
from etui.store import actions
from etui.store.actions import Action
from etui.store.database import Database, Row, run
from etui.store.encoding import clean, pack, unpack
from etui.store.redact import mask, mask_text, secrets_in
from etui.tool import Call, Risk, Tool

RUNNING = "running"
"""The status of a call that has begun and not ended."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One call in the journal."""

    number: int
    """Counts up in the order in which calls were written down; where a page of the audit ends."""
    id: str
    turn: str
    chat: str
    session: str
    channel: str
    tool: str
    plugin: str
    contract: str
    risk: str
    digest: str
    """SHA-256 of the plugin's code as it was then."""
    arguments: object
    """The JSON object that ran; of a refused call, whatever was sent."""
    status: str
    """`running`, or a `Status`."""
    text: str
    shown: str
    data: object
    rule: str
    reference: str
    detail: str
    images: tuple[str, ...]
    """Ids of blobs."""
    files: tuple[File, ...]
    """Without their bytes, which are blobs."""
    silent: bool
    started: float
    """Seconds since the epoch."""
    ended: float | None
    """Seconds since the epoch; None while it runs."""
    seconds: float
    why: str = ""
    """What went wrong, as the tool puts it; for the person and the owner."""
    withheld: tuple[str, ...] = ()
    """Which of the images are for the person's eyes only."""


class _Withheld(msgspec.Struct, frozen=True):
    """An image that no model is shown."""

    withheld: str


_COLUMNS = tuple(name for name in Entry.__struct_fields__ if name != "withheld")
_FIELDS = ", ".join(_COLUMNS)
_IMAGES = msgspec.json.Decoder(tuple[str | _Withheld, ...])
_FILES = msgspec.json.Decoder(tuple[File, ...])

_BEGIN = """INTO calls
    (id, turn, chat, session, channel, tool, plugin, contract, risk, digest, arguments, status, started)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', ?)"""
_BEGIN_ACTING = f"INSERT {_BEGIN}"
_BEGIN_READING = f"INSERT OR IGNORE {_BEGIN}"
_END = """UPDATE calls SET
    status = ?, rule = ?, reference = ?, silent = ?, ended = ?, seconds = ?,
    text = iif(forgotten, text, ?), shown = iif(forgotten, shown, ?), data = iif(forgotten, data, ?),
    detail = iif(forgotten, detail, ?), images = iif(forgotten, images, ?), files = iif(forgotten, files, ?),
    why = iif(forgotten, why, ?)
    WHERE id = ? AND ended IS NULL"""
_REFUSE = """INSERT OR IGNORE INTO calls
    (id, turn, chat, session, channel, tool, plugin, contract, risk, digest, arguments,
    status, text, shown, data, rule, reference, detail, silent, started, ended, seconds)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""


class Journal:
    """The calls, in the order in which they were written down."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    def begin(self, call: Call, tool: Tool, arguments: dict[str, object], *, chat: str, session: str, channel: str) -> None:
        """Write down that the call is about to run: committed when this returns if it acts, soon if it only reads.

        Raises StoreError for an acting call's id that is there.
        """
        values = (
            call.id,
            call.turn,
            chat,
            session,
            channel,
            tool.name,
            tool.plugin,
            tool.contract,
            tool.risk,
            tool.digest,
            pack(arguments),
            self._clock(),
        )
        if tool.risk is Risk.READ:
            self._database.soon(_BEGIN_READING, values)
            return
        try:
            self._database.write(_BEGIN_ACTING, values)
        except StoreError as error:
            if isinstance(error.__cause__, sqlite3.IntegrityError):
                raise StoreError(f"There has been a call with the id {call.id!r}; none is run twice.") from error
            raise

    def end(self, call_id: str, outcome: Outcome) -> None:
        """Write down soon how the call ended. The first end counts; a later one, or one of an unknown call, changes nothing.

        A death before it is on the disk leaves the call `running`, as a death a moment earlier would have.
        """
        self._database.soon(
            _END,
            (
                outcome.status,
                outcome.rule,
                outcome.reference,
                outcome.silent,
                self._clock(),
                outcome.seconds,
                outcome.text,
                outcome.shown,
                "null" if outcome.data is None else pack(outcome.data),
                self._detail(call_id, outcome.detail) if outcome.detail else "",
                pack([_image(image) for image in outcome.images if image.id]) if outcome.images else "[]",
                pack([_without_bytes(file) for file in outcome.files]) if outcome.files else "[]",
                clean(outcome.why),
                call_id,
            ),
        )

    def refuse(
        self,
        call: Call,
        outcome: Outcome,
        *,
        tool: Tool | None,
        arguments: object,
        chat: str,
        session: str,
        channel: str,
    ) -> None:
        """Write down a call that never began; one that did is left as it is."""
        now = self._clock()
        named = (
            (tool.name, tool.plugin, tool.contract, tool.risk, tool.digest) if tool else (call.tool, call.plugin, "", "", "")
        )
        ended = (
            outcome.status,
            outcome.text,
            outcome.shown,
            pack(outcome.data),
            outcome.rule,
            outcome.reference,
            mask_text(outcome.detail, secrets_in(arguments)),
            outcome.silent,
            now,
            now,
            outcome.seconds,
        )
        self._database.write(_REFUSE, (call.id, call.turn, chat, session, channel, *named, pack(arguments), *ended))

    def get(self, call_id: str) -> Entry | None:
        """The call as it was, or None where there is none."""
        row = self._database.row(f"SELECT {_FIELDS} FROM calls WHERE id = ?", (call_id,))
        return _entry(row) if row else None

    def of_turn(self, turn: str) -> list[Entry]:
        """The turn's calls as they were, in order; none for the empty turn."""
        rows = self._database.rows(f"SELECT {_FIELDS} FROM calls WHERE turn = ? AND turn <> '' ORDER BY number", (turn,))
        return [_entry(row) for row in rows]

    def running(self) -> list[Entry]:
        """The calls that have begun and not ended, as they were, in order."""
        ask = "SELECT settled.number, (SELECT max(number) FROM calls) FROM calls_settled AS settled"
        settled, newest = self._database.row(ask) or (0, 0)
        rows = self._database.rows(
            f"SELECT {_FIELDS} FROM calls WHERE number > ? AND ended IS NULL ORDER BY number", (settled,)
        )
        entries = [_entry(row) for row in rows]
        # What has ended stays so: the next look begins where this one found the first that runs.
        known = entries[0].number - 1 if entries else newest or 0
        if known > settled:
            self._database.write("UPDATE calls_settled SET number = max(number, ?)", (known,))
        return entries

    def recent(self, tool: str = "", limit: int = 20) -> list[Entry]:
        """The last calls, of one tool if it is named, the newest first, masked."""
        return self.audit(limit, tool=tool)

    def audit(self, limit: int = 100, before: int | None = None, tool: str = "", status: Status | str = "") -> list[Entry]:
        """The newest calls first, masked; `before` is the `number` of the last entry of the page before."""
        rows = self._database.rows(
            f"""SELECT {_FIELDS} FROM calls
            WHERE (?1 IS NULL OR number < ?1) AND (?2 = '' OR tool = ?2) AND (?3 = '' OR status = ?3)
            ORDER BY number DESC LIMIT ?4""",
            (before, tool, str(status), limit),
        )
        return [_masked(_entry(row)) for row in rows]

    def decided(self, call_id: str, action: str, risk: str, verdict: str, by: str) -> None:
        """Write down soon what was decided about an action in a call, or with an empty action about the call itself.

        `verdict` is approved, declined, unanswered, unreachable or dismissed; `by` says who or what decided, see `actions.BY`.
        """
        actions.decided(self._database, self._clock(), call_id, action, risk, verdict, by)

    def actions(self, limit: int = 100, before: float | None = None) -> list[Action]:
        """What was done and what was decided about it, the newest first, masked; `before` is the `at` of the page before."""
        return actions.newest(self._database, limit, before)

    def _detail(self, call_id: str, detail: str) -> str:
        """The owner's detail without secrets, those included that were in the call's own arguments."""
        row = self._database.row("SELECT arguments FROM calls WHERE id = ?", (call_id,))
        return mask_text(detail, secrets_in(unpack(row[0])) if row else frozenset())


def forget_chat(connection: sqlite3.Connection, chat: str) -> None:
    """Within a transaction: empty the contents of the chat's calls and unlink them.

    What stays is what an owner must be able to see: which tool ran, when, at what risk, by which rule, and how it ended.
    """
    actions.forget_chat(connection, chat)
    run(
        connection,
        """UPDATE calls SET chat = '', arguments = '{}', text = '', shown = '', data = 'null', detail = '', images = '[]',
           files = '[]', why = '', forgotten = 1 WHERE chat = ? AND chat <> ''""",
        (chat,),
    )


def _without_bytes(file: File) -> dict[str, str]:
    return {"name": file.name, "media_type": file.media_type, "id": file.id}


def _image(image: Image) -> str | dict[str, str]:
    return {"withheld": image.id} if image.withheld else image.id


def _entry(row: Row) -> Entry:
    fields = dict(zip(_COLUMNS, row, strict=True))
    fields["arguments"] = unpack(fields["arguments"])
    fields["data"] = unpack(fields["data"])
    images = _IMAGES.decode(fields["images"])
    fields["images"] = tuple(image if isinstance(image, str) else image.withheld for image in images)
    fields["withheld"] = tuple(image.withheld for image in images if not isinstance(image, str))
    fields["files"] = _FILES.decode(fields["files"])
    fields["silent"] = bool(fields["silent"])
    return Entry(**fields)


def _masked(entry: Entry) -> Entry:
    """The entry as it may be shown: secrets in the arguments are masked wherever else they turn up."""
    known = secrets_in(entry.arguments) | secrets_in(entry.data)
    return msgspec.structs.replace(
        entry,
        arguments=mask(entry.arguments, known),
        data=mask(entry.data, known),
        text=mask_text(entry.text, known),
        shown=mask_text(entry.shown, known),
        detail=mask_text(entry.detail, known),
        why=mask_text(entry.why, known),
        files=tuple(msgspec.structs.replace(file, name=mask_text(file.name, known)) for file in entry.files),
    )
