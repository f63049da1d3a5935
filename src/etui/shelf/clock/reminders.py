"""Reminders and alarms by wall time: once, or every day, weekday, week, month or year, in the person's time zone.

Above: whoever speaks to the assistant. Below: `ctx.remind`, which keeps them with their zone through restarts and changes
of clocks, and `_when.py`, which reads what people say for a moment. An ordinary tool file. It refuses to know: how a
reminder reaches the person.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from etui import Context, Result, ToolError, tool

from ._settle import NotUnderstood, When
from ._when import read, zone_of
from ._words import REPEATS, counted, moment_said, near_day, repeat_said, short_time

Repeat = Literal["", "daily", "weekdays", "weekly", "monthly", "yearly"]


def utc_now() -> datetime:
    """Now, aware; tests put another in its place."""
    return datetime.now(UTC)


@tool(
    risk="write",
    examples=[
        "remind me to {text} {when}",
        "remind me {when} to {text}",
        "set a reminder to {text} {when}",
        "set a reminder {when} to {text}",
        "remind me about {text} {when}",
        "{when} remind me to {text}",
        "don't let me forget to {text} {when}",
        "I need to {text} {when}, remind me",
        "give me a nudge {when} to {text}",
    ],
)
def remind_me(
    ctx: Context,
    text: Annotated[str, "What to be reminded of, such as: call mom."],
    when: Annotated[
        str, "When, in the person's words or ISO 8601: in 20 minutes, tomorrow at 5 pm, on Friday, every day at 9."
    ],
    repeat: Annotated[Repeat, "How it comes again; may also be said in `when`."] = "",
) -> Result:
    """Set a reminder that speaks up at a time, once or again and again."""
    what = _what(text)
    if not what:
        raise ToolError("What should I remind you of?")
    found = _moment(when, ctx, early=False)
    again = found.repeat or repeat
    id = ctx.remind(f"Reminder: {what}.", found.at, kind="reminder", label=what, repeat=again)
    return Result(
        f"I'll remind you {_said(found.at, again, ctx)}: {what}.",
        data=_data(id, found.at, again, "reminder_cancel", "reminder"),
    )


@tool(
    examples=[
        "what reminders do I have",
        "show my reminders",
        "list my reminders",
        "what are my reminders",
        "do I have any reminders",
        "what did I ask you to remind me of",
        "read me my reminders",
        "what are you going to remind me of",
        "which reminders are coming up",
    ],
)
def reminders(ctx: Context) -> Result:
    """Tell which reminders are set, the next one first."""
    return _told(ctx, "reminder")


@tool(
    risk="write",
    examples=[
        "cancel the reminder to {reminder}",
        "delete the reminder about {reminder}",
        "cancel my {reminder} reminder",
        "remove the reminder to {reminder}",
        "forget the reminder about {reminder}",
        "don't remind me to {reminder}",
        "cancel my reminder",
        "get rid of the {reminder} reminder",
        "I don't need the {reminder} reminder any more",
    ],
)
def reminder_cancel(
    ctx: Context,
    reminder: Annotated[str, "Some words of it or its id; `all` for every one; empty where there is only one."] = "",
) -> Result:
    """Cancel a reminder that is set."""
    return _cancelled(ctx, "reminder", reminder)


@tool(
    risk="write",
    examples=[
        "set an alarm for {at}",
        "wake me at {at}",
        "wake me up at {at}",
        "set an alarm {at}",
        "set my alarm for {at}",
        "alarm at {at}",
        "alarm for {at}",
        "get me up at {at}",
        "I need to be up by {at}",
        "I have to get up at {at}",
        "get me out of bed at {at}",
    ],
)
def set_alarm(
    ctx: Context,
    at: Annotated[str, "When, in the person's words or ISO 8601: 7, half past six, tomorrow at 8, every weekday at 6:30."],
    repeat: Annotated[Repeat, "How it comes again; may also be said in `at`."] = "",
    label: Annotated[str, "What it is for; empty for none."] = "",
) -> Result:
    """Set an alarm for a time of day, once or again and again."""
    found = _moment(at, ctx, early=True)
    again = found.repeat or repeat
    what = _what(label)
    if any(one.at == found.at and one.repeat == again for one in ctx.reminders("alarm")):
        return Result(f"The alarm is already set for {_said(found.at, again, ctx)}.")
    text = f"It's {short_time(found.at)}: {what}." if what else f"Your {short_time(found.at)} alarm."
    id = ctx.remind(text, found.at, kind="alarm", label=what or short_time(found.at), repeat=again)
    return Result(f"Alarm set for {_said(found.at, again, ctx)}.", data=_data(id, found.at, again, "cancel_alarm", "alarm"))


@tool(
    examples=[
        "what alarms are set",
        "show my alarms",
        "list my alarms",
        "do I have an alarm set",
        "when is my alarm",
        "when does my alarm go off",
        "what time is my alarm set for",
        "which alarms have I got",
        "when am I getting woken up",
    ],
)
def alarms(ctx: Context) -> Result:
    """Tell which alarms are set, the next one first."""
    return _told(ctx, "alarm")


@tool(
    risk="write",
    examples=[
        "cancel my alarm",
        "cancel the alarm",
        "turn off my alarm",
        "delete the {alarm} alarm",
        "cancel the alarm for {alarm}",
        "cancel my {alarm} alarm",
        "turn off the {alarm} alarm",
        "cancel {alarm} alarms",
        "I don't need the alarm any more",
        "switch off the {alarm} alarm",
    ],
)
def cancel_alarm(
    ctx: Context,
    alarm: Annotated[str, "Its time, label or id; `all` for every one; empty where there is only one."] = "",
) -> Result:
    """Cancel an alarm that is set."""
    return _cancelled(ctx, "alarm", alarm)


def _now(ctx: Context) -> datetime:
    return utc_now().astimezone(zone_of(ctx.session.timezone))


def _moment(words: str, ctx: Context, *, early: bool) -> When:
    try:
        found = read(words, _now(ctx), language=ctx.session.language, early=early)
    except NotUnderstood as error:
        raise ToolError(str(error)) from None
    return found


def _what(text: str) -> str:
    plain = re.sub(r"\s+", " ", text).strip(" .!?,:;\"'")[:300]
    return re.sub(r"^(to|that|about) ", "", plain, flags=re.IGNORECASE)


def _said(at: datetime, repeat: str, ctx: Context) -> str:
    if not repeat:
        return moment_said(at, _now(ctx))
    first = near_day(at.date(), _now(ctx).date()).removeprefix("on ")
    return f"{repeat_said(at, repeat)}, starting {first}"


def _data(id: str, at: datetime, repeat: str, tool_name: str, parameter: str) -> dict[str, Any]:
    undo = {"tool": tool_name, "arguments": {parameter: f"#{id}"}}
    return {"id": id, "at": at.isoformat(timespec="seconds"), "repeat": repeat, "undo": undo}


def _told(ctx: Context, kind: str) -> Result:
    kept = sorted(ctx.reminders(kind), key=lambda one: one.at)
    if not kept:
        return Result(f"You have no {kind}s set.", data={f"{kind}s": []})
    said = [_line(ctx, one) for one in kept[:12]]
    more = f" And {len(kept) - 12} more." if len(kept) > 12 else ""
    data = [{"id": one.id, "text": one.label, "due": _due(ctx, one).isoformat(), "repeat": one.repeat} for one in kept]
    return Result(f"You have {counted(len(kept), kind)}: {'; '.join(said)}.{more}", data={f"{kind}s": data})


def _due(ctx: Context, one: Any) -> datetime:
    at: datetime = one.at.astimezone(zone_of(ctx.session.timezone))
    return at


def _line(ctx: Context, one: Any) -> str:
    at = _due(ctx, one)
    time = repeat_said(at, one.repeat) if one.repeat in REPEATS else moment_said(at, _now(ctx))
    return time if one.label == short_time(at) else f"{one.label}, {time}"


def _cancelled(ctx: Context, kind: str, words: str) -> Result:
    kept = sorted(ctx.reminders(kind), key=lambda one: one.at)
    said = _name(words, kind)
    if said.startswith("#") and not _matching(ctx, kept, said):
        return Result(f"That {kind} has already gone off." if kind == "alarm" else f"I have already told you of that {kind}.")
    if not kept:
        return Result(f"You have no {kind}s set.")
    if said in {"all", "all of them", "all my", "every", "all the"}:
        for one in kept:
            ctx.forget(one.id)
        return Result(f"Cancelled {counted(len(kept), kind)}.")
    chosen = _matching(ctx, kept, said) if said else kept
    if not chosen:
        raise ToolError(f"You have no {kind} like {said!r}. Set: {'; '.join(_line(ctx, one) for one in kept[:5])}.")
    if len(chosen) > 1:
        raise ToolError(f"Which {kind}: {' or '.join(_line(ctx, one) for one in chosen[:5])}?")
    return _one_cancelled(ctx, chosen[0], kind)


def _one_cancelled(ctx: Context, one: Any, kind: str) -> Result:
    ctx.forget(one.id)
    at = _due(ctx, one)
    again = {"repeat": one.repeat} if one.repeat else {}
    if kind == "alarm":
        label = {} if one.label == short_time(at) else {"label": one.label}
        undo = {"tool": "set_alarm", "arguments": {"at": at.isoformat(), **again, **label}}
    else:
        undo = {"tool": "remind_me", "arguments": {"text": one.label, "when": at.isoformat(), **again}}
    return Result(f"Cancelled the {kind}: {_line(ctx, one)}.", data={"undo": undo})


def _name(words: str, kind: str) -> str:
    text = re.sub(r"\s+", " ", words).strip(" .!?\"'").casefold()
    text = re.sub(rf"^(the |my |for |to |about )+|( {kind}s?)$", "", text).strip()
    return "" if text in {kind, f"{kind}s", "the", "my", "it"} else text


def _matching(ctx: Context, kept: list[Any], said: str) -> list[Any]:
    """By id, by time, by all the words, by any word, in that order."""
    words = set(re.findall(r"\w+", said)) - {"the", "a", "an", "my", "to", "at", "for", "of", "am", "pm"}
    time = re.sub(r"\W", "", re.sub(r"^at |o'?clock", "", said))
    for fits in (
        lambda one: one.id == said.removeprefix("#"),
        lambda one: time in _times(_due(ctx, one)),
        lambda one: words and words <= set(re.findall(r"\w+", one.label.casefold())),
        lambda one: words & {word for word in re.findall(r"\w+", one.label.casefold()) if len(word) > 3},
    ):
        if found := [one for one in kept if fits(one)]:
            return found
    return []


def _times(at: datetime) -> set[str]:
    """How people call that time of day, without punctuation."""
    hour = at.hour % 12 or 12
    bare = {str(hour), str(at.hour)} if not at.minute else set()
    return bare | {
        re.sub(r"\W", "", text) for text in (short_time(at), f"{at:%H:%M}", f"{hour}:{at:%M}", f"{hour}:{at:%M}{at:%p}".lower())
    }
