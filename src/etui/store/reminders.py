"""Timers, alarms and reminders, kept by the wall clock of a named zone.

What is kept is what the person meant: nine o'clock in Berlin, every day. The instant follows from the zone's rules for the
date. A wall time that a change of clocks skips moves on by the gap; one that comes twice counts the first time.
Above: `services` and `host`, which waits for `next_due`. Below: `database`, `zoneinfo`. It refuses to know: how one is told.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec

from etui.errors import StoreError
from etui.store.database import Database, Row, run
from etui.store.encoding import clean

REPEATS = ("", "daily", "weekdays", "weekly", "monthly", "yearly")
"""How a reminder may come again. A monthly or yearly one on a day that a month lacks comes on that month's last day."""


class Reminder(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to be said at one time, or again and again."""

    id: str = ""
    """Short enough to be read aloud; given by `add`."""
    plugin: str = ""
    kind: str = "reminder"
    """`timer`, `alarm`, `reminder`, or a plugin's own word."""
    text: str = ""
    label: str = ""
    due: float = 0.0
    """The instant in seconds since the epoch; 0 where `wall` says it."""
    zone: str = ""
    """IANA name."""
    wall: str = ""
    """Local time in the zone, such as `2026-04-01T09:00`; for one that repeats, the occurrence that comes next."""
    repeat: str = ""
    """One of `REPEATS`."""
    chat: str = ""
    session: str = ""
    created: float = 0.0
    """Seconds since the epoch."""
    done: float | None = None
    """When it was finished, in seconds since the epoch; None while it is to come."""


_FIELDS = ", ".join(Reminder.__struct_fields__)
_MARKS = ", ".join("?" * len(Reminder.__struct_fields__))


class Reminders:
    """What is to be said, and when."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    def add(self, reminder: Reminder) -> Reminder:
        """Keep a reminder and give it as kept. Either `wall` and `zone` say when, or `due` does.

        Raises StoreError for an unknown zone, a wall time that cannot be read, a repeat that is none, or no time at all.
        """
        kept = _settled(reminder, self._clock())
        with self._database.change() as connection:
            while run(connection, "SELECT 1 FROM reminders WHERE id = ?", (kept.id,)).fetchone():
                if reminder.id:
                    raise StoreError(f"There is a reminder {reminder.id!r} already.")
                kept = msgspec.structs.replace(kept, id=_new_id())
            run(
                connection,
                f"INSERT INTO reminders ({_FIELDS}, anchor) VALUES ({_MARKS}, ?)",
                (*msgspec.structs.astuple(kept), kept.wall),
            )
        return kept

    def get(self, id: str) -> Reminder | None:
        """The reminder, done or not, or None where there is none."""
        row = self._database.row(f"SELECT {_FIELDS} FROM reminders WHERE id = ?", (id,))
        return _reminder(row) if row else None

    def due(self, now: float) -> list[Reminder]:
        """What is to be said by now, the longest overdue first; each until it is finished or cancelled."""
        return self._those("due <= ?", (now,))

    def upcoming(self, kind: str = "", plugin: str = "") -> list[Reminder]:
        """Everything that is not done, of one kind or plugin if it is named, the next first."""
        return self._those("(?1 = '' OR kind = ?1) AND (?2 = '' OR plugin = ?2)", (kind, plugin))

    def next_due(self) -> float | None:
        """The instant of the next one, or None if there is none."""
        row = self._database.row("SELECT min(due) FROM reminders WHERE done IS NULL")
        return row[0] if row else None

    def finish(self, id: str, now: float) -> Reminder | None:
        """It has been said: done, or moved to its first time after `now`; gives it as it is then, or None where there is none.

        Times that passed while nobody was there are not made up for. One that repeats and is not due yet stays as it is, so
        that two hosts that finish the same one move it once.
        """
        with self._database.change() as connection:
            row = run(connection, f"SELECT {_FIELDS}, anchor FROM reminders WHERE id = ?", (id,)).fetchone()
            if row is None:
                return None
            reminder = _reminder(row[:-1])
            if reminder.done is not None or (reminder.repeat and reminder.due > now):
                return reminder
            moved = _moved(reminder, row[-1], now)
            run(
                connection,
                "UPDATE reminders SET due = ?, wall = ?, done = ? WHERE id = ?",
                (moved.due, moved.wall, moved.done, id),
            )
        return moved

    def cancel(self, id: str) -> bool:
        """Forget the reminder; False if there was none, or it was done."""
        return self._database.write("DELETE FROM reminders WHERE id = ? AND done IS NULL", (id,)) > 0

    def update(
        self,
        id: str,
        *,
        text: str | None = None,
        label: str | None = None,
        due: float | None = None,
        wall: str | None = None,
        zone: str | None = None,
    ) -> Reminder | None:
        """Change what is given of a reminder that is not done, and give it as it is then, or None where there is none.

        `wall` and `zone` move all the times of one that repeats; `due` moves the next time only, as a snooze does.
        Raises StoreError as `add` does.
        """
        with self._database.change() as connection:
            row = run(connection, f"SELECT {_FIELDS}, anchor FROM reminders WHERE id = ? AND done IS NULL", (id,)).fetchone()
            if row is None:
                return None
            reminder, anchor = _reminder(row[:-1]), row[-1]
            reminder = msgspec.structs.replace(
                reminder,
                text=reminder.text if text is None else clean(text),
                label=reminder.label if label is None else clean(label),
            )
            if wall is not None or zone is not None:
                places = {"wall": wall or reminder.wall, "zone": zone or reminder.zone}
                reminder = _settled(msgspec.structs.replace(reminder, due=0.0, **places), reminder.created)
                anchor = reminder.wall
            if due is not None:
                shown = _wall(due, _zone(reminder.zone or "UTC"))
                snoozed = reminder.wall if reminder.repeat or not reminder.zone else shown
                reminder = msgspec.structs.replace(reminder, due=due, wall=snoozed)
                anchor = anchor if reminder.repeat else snoozed
            run(
                connection,
                "UPDATE reminders SET text = ?, label = ?, due = ?, wall = ?, zone = ?, anchor = ? WHERE id = ?",
                (reminder.text, reminder.label, reminder.due, reminder.wall, reminder.zone, anchor, id),
            )
        return reminder

    def _those(self, which: str, values: tuple[float | str, ...]) -> list[Reminder]:
        rows = self._database.rows(
            f"SELECT {_FIELDS} FROM reminders WHERE done IS NULL AND {which} ORDER BY due, created", values
        )
        return [_reminder(row) for row in rows]


def instant(wall: datetime, zone: ZoneInfo) -> float:
    """When a wall clock in the zone first shows that time, or moved on by the gap it falls in; in seconds since the epoch."""
    return wall.replace(tzinfo=zone, fold=0).timestamp()


def forget_chat(connection: sqlite3.Connection, chat: str) -> None:
    """Within a transaction: unlink the chat's reminders, which are still to be said."""
    run(connection, "UPDATE reminders SET chat = '' WHERE chat = ? AND chat <> ''", (chat,))


def _settled(reminder: Reminder, now: float) -> Reminder:
    """The reminder with an id, its instant and its wall time in agreement, and text that can be kept."""
    if reminder.repeat not in REPEATS:
        raise StoreError(f"A reminder cannot repeat {reminder.repeat!r}; choose one of {', '.join(REPEATS[1:])}, or nothing.")
    zone, wall, due = reminder.zone, reminder.wall, reminder.due
    if wall:
        there = _zone(zone or "UTC")
        zone = there.key
        local = _first(_read(wall, there), reminder.repeat)
        wall = _written(local)
        # A due time that reads as this wall time is the finer word: of a time that comes twice, it says which.
        if not due or _wall(due, there) != wall:
            due = instant(local, there)
    elif not due:
        raise StoreError("A reminder needs a time: `due`, or `wall` and `zone`.")
    elif not zone and not reminder.repeat:
        _wall(due, _zone("UTC"))
    else:
        there = _zone(zone or "UTC")
        zone, wall = there.key, _wall(due, there)
        first = _written(_first(datetime.fromisoformat(wall), reminder.repeat))
        if first != wall:
            wall, due = first, instant(datetime.fromisoformat(first), there)
    texts = {
        name: clean(getattr(reminder, name))
        for name in ("plugin", "kind", "text", "label", "chat", "session")
        if getattr(reminder, name)
    }
    made = {"id": clean(reminder.id) or _new_id(), "created": reminder.created or now}
    return msgspec.structs.replace(reminder, due=due, zone=zone, wall=wall, **texts, **made)


def _moved(reminder: Reminder, anchor: str, now: float) -> Reminder:
    """The reminder after it has been said: done, or at its first time after `now` and after the one that was said."""
    if reminder.repeat:
        zone = _zone(reminder.zone)
        last = datetime.fromisoformat(reminder.wall)
        try:
            start = max(last, datetime.fromtimestamp(max(now, reminder.due), zone).replace(tzinfo=None))
            for wall in _series(datetime.fromisoformat(anchor), reminder.repeat, start.date() - timedelta(days=3)):
                due = instant(wall, zone)
                if wall > last and due > max(now, reminder.due):
                    return msgspec.structs.replace(reminder, due=due, wall=_written(wall))
        except (OverflowError, ValueError):
            # The calendar ends with the year 9999, and with it the series.
            pass
    return msgspec.structs.replace(reminder, done=now)


def _series(anchor: datetime, repeat: str, start: date) -> Iterator[datetime]:
    """The wall times of a series, in order, from about `start` on; ends where the calendar does."""
    if repeat in ("monthly", "yearly"):
        step = 1 if repeat == "monthly" else 12
        months = (start.year - anchor.year) * 12 + start.month - anchor.month
        number = max(months // step - 1, 0)
        while True:
            yield _months_later(anchor, number * step)
            number += 1
    step = 7 if repeat == "weekly" else 1
    number = max((start - anchor.date()).days // step - 1, 0)
    while True:
        wall = anchor + timedelta(days=number * step)
        if repeat != "weekdays" or wall.weekday() < 5:
            yield wall
        number += 1


def _months_later(anchor: datetime, months: int) -> datetime:
    """The same day and time so many months later, or the last day of a month that is too short."""
    year, month = divmod(anchor.year * 12 + anchor.month - 1 + months, 12)
    following = date(year + (month == 11), (month + 1) % 12 + 1, 1)
    last = (following - timedelta(days=1)).day
    return anchor.replace(year=year, month=month + 1, day=min(anchor.day, last))


def _first(wall: datetime, repeat: str) -> datetime:
    """The wall time, or the Monday after it where it is for weekdays and falls on a weekend."""
    return wall + timedelta(days=7 - wall.weekday()) if repeat == "weekdays" and wall.weekday() > 4 else wall


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise StoreError(f"There is no time zone {name!r}; use an IANA name such as 'Europe/Berlin'.") from error


def _read(wall: str, zone: ZoneInfo) -> datetime:
    """A wall time as written; one with an offset is read as the instant it is and told by the zone's clock."""
    try:
        read = datetime.fromisoformat(wall)
    except ValueError as error:
        raise StoreError(f"The wall time {wall!r} cannot be read; write it as '2026-04-01T09:00'.") from error
    return read.astimezone(zone).replace(tzinfo=None) if read.tzinfo else read


def _wall(due: float, zone: ZoneInfo) -> str:
    """What a wall clock in the zone shows at the instant, to the second."""
    try:
        return _written(datetime.fromtimestamp(due, UTC).astimezone(zone))
    except (OverflowError, ValueError, OSError) as error:
        raise StoreError(f"The time {due!r} is outside of the calendar.") from error


def _written(wall: datetime) -> str:
    wall = wall.replace(tzinfo=None, fold=0)
    return wall.isoformat(timespec="seconds" if wall.second else "minutes")


def _new_id() -> str:
    return secrets.token_hex(3)


def _reminder(row: Row) -> Reminder:
    return Reminder(**dict(zip(Reminder.__struct_fields__, row, strict=True)))
