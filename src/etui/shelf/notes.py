"""Notes: write down, search by any words, read, delete.

Above: whoever speaks to the assistant. Below: `ctx.state`, one key a note, which the host indexes for full-text search. An
ordinary tool file. It refuses to know: reminders, lists, and what the assistant itself should remember (see `memory.py`).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from etui import Context, Result, ToolError, tool

PREFIX = "note/"
COUNTER = "counter"
LONGEST = 100_000
"""Characters of one note."""
FILLERS = {
    "the",
    "a",
    "an",
    "my",
    "our",
    "note",
    "notes",
    "about",
    "on",
    "for",
    "to",
    "of",
    "with",
    "called",
    "any",
    "that",
    "says",
}


def utc_now() -> datetime:
    """Now, aware; tests put another in its place."""
    return datetime.now(UTC)


@tool(
    risk="write",
    examples=[
        "make a note that {text}",
        "note that {text}",
        "write down that {text}",
        "write down {text}",
        "make a note: {text}",
        "save a note {text}",
        "new note: {text}",
        "jot down {text}",
        "note to self: {text}",
        "quick note: {text}",
        "write this down: {text}",
        "take a note [saying] {text}",
    ],
)
def note_add(
    ctx: Context,
    text: Annotated[str, "What to write down, in the person's words."],
    title: Annotated[str, "A short title; by default the first words."] = "",
) -> Result:
    """Write down a note for the person to find again."""
    body = text.strip()
    if not body:
        raise ToolError("What should the note say?")
    if len(body) > LONGEST:
        raise ToolError(f"That's too long for one note: it may have {LONGEST:,} characters.")
    number = int(ctx.state.update(COUNTER, lambda last: int(last) + 1, 0))
    note = {"title": " ".join(title.split())[:80] or _title(body), "text": body, "at": utc_now().isoformat(timespec="seconds")}
    ctx.state.put(f"{PREFIX}{number:06}", note)
    undo = {"tool": "note_delete", "arguments": {"note": str(number)}}
    return Result(f"Noted: {_short(body)}", data={"id": number, "undo": undo})


@tool(
    examples=[
        "search my notes for {query}",
        "find my notes about {query}",
        "find the note about {query}",
        "what do my notes say about {query}",
        "look in my notes for {query}",
        "do I have a note about {query}",
        "is there anything in my notes on {query}",
        "check my notes for {query}",
    ],
)
def notes_search(ctx: Context, query: Annotated[str, "Words that the note holds."]) -> Result:
    """Search the person's notes by words and read out what fits."""
    found = _found(ctx, query, 10)
    if not found:
        return Result(f"I found no note about {_short(query.strip(), 60).rstrip('.')}.", data={"notes": []})
    if len(found) == 1:
        return Result(found[0][1]["text"], data={"notes": [_data(*found[0])]})
    said = "; ".join(_short(note["text"], 100).rstrip(".") for _, note in found[:4])
    rest = f"; and {len(found) - 4} more" if len(found) > 4 else ""
    return Result(f"I found {len(found)} notes: {said}{rest}.", data={"notes": [_data(key, note) for key, note in found]})


@tool(
    examples=[
        "read the note about {note}",
        "read my note about {note}",
        "read me note {note}",
        "open the note about {note}",
        "read my {note} note",
        "show me the note on {note}",
        "read my last note",
        "what was my last note",
        "what does my note about {note} say",
    ],
)
def note_read(ctx: Context, note: Annotated[str, "Its number, or words of it; empty or `last` for the newest."] = "") -> Result:
    """Read one note out in full."""
    key, kept = _one(ctx, note)
    return Result(kept["text"], data=_data(key, kept))


@tool(
    examples=[
        "what are my latest notes",
        "show my notes",
        "list my notes",
        "show my recent notes",
        "what did I note lately",
        "read me my notes",
        "what notes do I have",
        "show me the newest notes",
        "show me my last few notes",
        "show me my last {limit} notes",
    ],
)
def notes_recent(ctx: Context, limit: Annotated[int, "How many at most."] = 5) -> Result:
    """Read out the newest notes, the newest first."""
    keys = sorted(ctx.state.keys(PREFIX), reverse=True)
    if not keys:
        return Result("You have no notes.", data={"notes": []})
    kept = [(key, note) for key in keys[: max(1, min(limit, 50))] if (note := ctx.state.get(key, None))]
    said = "; ".join(f"{_ago(note['at'], ctx)}: {_short(note['text'], 100).rstrip('.')}" for key, note in kept)
    more = f" That's {len(kept)} of {len(keys)}." if len(kept) < len(keys) else ""
    return Result(f"{said[:1].upper()}{said[1:]}.{more}", data={"notes": [_data(key, note) for key, note in kept]})


@tool(
    risk="write",
    examples=[
        "delete the note about {note}",
        "delete my note about {note}",
        "remove the note about {note}",
        "delete note {note}",
        "throw away the {note} note",
        "delete my last note",
        "erase the note on {note}",
        "bin my last note",
        "bin the note about {note}",
    ],
)
def note_delete(
    ctx: Context, note: Annotated[str, "Its number, or words of it; empty or `last` for the newest."] = ""
) -> Result:
    """Delete one of the person's notes."""
    key, kept = _one(ctx, note)
    ctx.state.delete(key)
    undo = {"tool": "note_add", "arguments": {"text": kept["text"], "title": kept["title"]}}
    return Result(f"Deleted the note: {_short(kept['text'])}", data={"id": _number(key), "undo": undo})


def _one(ctx: Context, said: str) -> tuple[str, dict[str, Any]]:
    """The one note that is meant. Raises ToolError with a sentence where there is none or more than one."""
    plain = re.sub(r"^(the|my)\s+|\s+(note|one)$", "", said.strip(" .!?").casefold())
    if plain in {"", "last", "latest", "newest", "last note", "note", "it", "that"}:
        keys = sorted(ctx.state.keys(PREFIX))
        if not keys:
            raise ToolError("You have no notes.")
        return keys[-1], dict(ctx.state.get(keys[-1], None))
    if number := re.fullmatch(r"(?:number |no\.? ?|#)?(\d{1,6})", plain):
        key = f"{PREFIX}{int(number[1]):06}"
        if kept := ctx.state.get(key, None):
            return key, dict(kept)
        raise ToolError(f"There is no note number {int(number[1])}.")
    found = _found(ctx, said, 6)
    if not found:
        raise ToolError(f"I found no note about {_short(said, 60).rstrip('.')}.")
    if len(found) > 1:
        said_titles = "; ".join(f"number {_number(key)}, {_short(note['title'], 50).rstrip('.')}" for key, note in found[:5])
        raise ToolError(f"Which note: {said_titles}?")
    return found[0]


def _found(ctx: Context, query: str, limit: int) -> list[tuple[str, dict[str, Any]]]:
    """The notes that hold all the words, or, if none does, most of them; the best first."""
    words = [word for word in re.findall(r"[\w'-]+", query) if word.casefold() not in FILLERS]
    for attempt in dict.fromkeys(
        [" ".join(words), query.strip(), *(sorted(words, key=len, reverse=True)[:1] if len(words) > 1 else [])]
    ):
        if attempt and (found := ctx.state.search(attempt, prefix=PREFIX, limit=limit)):
            return [(str(hit["key"]), dict(hit["value"])) for hit in found]
    return []


def _number(key: str) -> int:
    return int(key.removeprefix(PREFIX))


def _data(key: str, note: dict[str, Any]) -> dict[str, Any]:
    return {"id": _number(key), **note}


def _title(text: str) -> str:
    line = text.strip().splitlines()[0]
    return line if len(line) <= 60 else line[:60].rsplit(" ", 1)[0] + "…"


def _short(text: str, limit: int = 120) -> str:
    """The text in one line, cut at a word, with its full stop."""
    line = " ".join(text.split())
    if len(line) > limit:
        return line[:limit].rsplit(" ", 1)[0].rstrip(",;:") + "…"
    return line if line[-1:] in ".!?…" else f"{line}."


def _ago(at: str, ctx: Context) -> str:
    zone = _zone(ctx.session.timezone)
    day, today = datetime.fromisoformat(at).astimezone(zone).date(), utc_now().astimezone(zone).date()
    days = (today - day).days
    if days <= 1:
        return "yesterday" if days == 1 else "today"
    return f"on {day.day} {day:%B}" + (f" {day.year}" if day.year != today.year else "")


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")
