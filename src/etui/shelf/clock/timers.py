"""Timers and the stopwatch. A timer is a reminder of the host's: it survives a restart and speaks up at its end.

Above: whoever speaks to the assistant. Below: `ctx.remind` and `ctx.state`. An ordinary tool file. It refuses to know: wall
time.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from etui import Context, Result, ToolError, tool

from ._when import number
from ._words import counted, length, listed, short_length

LONGEST = timedelta(days=31)
STOPWATCH = "stopwatch"


def utc_now() -> datetime:
    """Now, aware; tests put another in its place."""
    return datetime.now(UTC)


@tool(
    risk="write",
    examples=[
        "set a timer for {duration}",
        "set a {duration} timer",
        "start a timer for {duration}",
        "start a {duration} {label} timer",
        "set a {label} timer for {duration}",
        "set a timer for {duration} for the {label}",
        "timer {duration}",
        "time {duration} for me",
        "count down {duration}",
        "give me {duration} on the clock",
    ],
)
def set_timer(
    ctx: Context,
    duration: Annotated[timedelta, "How long, in seconds or as ISO 8601 such as PT10M."],
    label: Annotated[str, "What it is for, such as pasta; empty for none."] = "",
) -> Result:
    """Start a countdown timer that speaks up when it is done."""
    if duration < timedelta(seconds=1):
        raise ToolError("A timer needs at least a second.")
    if duration > LONGEST:
        raise ToolError("That's too long for a timer, which takes 31 days at most: set a reminder instead.")
    what = _clean(label)
    name = f"{what or short_length(duration)} timer"
    due = utc_now() + duration
    id = ctx.remind(f"Your {name} is done.", due, kind="timer", label=what or short_length(duration))
    aside = f" for the {what}" if what else ""
    data = {
        "id": id,
        "due": due.isoformat(timespec="seconds"),
        "undo": {"tool": "cancel_timer", "arguments": {"timer": f"#{id}"}},
    }
    if re.fullmatch(_LENGTH, what):  # one that was called off goes on under the length it had
        return Result(f"The {what} timer goes on, with {length(duration)} left.", data=data)
    return Result(f"Timer set for {length(duration)}{aside}.", data=data)


_LENGTH = r"\d+ (?:day|hour|minute|second)(?: \d+ (?:hour|minute|second))*"


@tool(
    examples=[
        "how much time is left on my timer",
        "how long is left on the {timer} timer",
        "how much time is left",
        "what timers are running",
        "show my timers",
        "list my timers",
        "are there any timers",
        "when is my timer done",
        "is the timer nearly done",
        "how much longer on the {timer}",
        "how long until the {timer} timer goes off",
        "how long have I got left on the {timer} timer",
    ],
)
def timers(
    ctx: Context,
    timer: Annotated[str, "Label or length of one timer; empty for all."] = "",
) -> Result:
    """Tell which timers run and how much time is left on each."""
    running = sorted(ctx.reminders("timer"), key=lambda one: one.at)
    if not running:
        return Result("No timers are running.", data={"timers": []})
    now = utc_now().timestamp()
    chosen = _matching(running, timer) if _clean(timer) else running
    if not chosen:
        raise ToolError(f"There is no {_clean(timer)} timer: {_named(running, now)}.")
    data = [{"id": one.id, "label": one.label, "seconds_left": max(0, round(one.at.timestamp() - now))} for one in chosen]
    return Result(f"{_upper(_named(chosen, now))}.", data={"timers": data})


@tool(
    risk="write",
    examples=[
        "cancel the timer",
        "cancel my timer",
        "stop the timer",
        "cancel the {timer} timer",
        "stop the {timer} timer",
        "turn off the {timer} timer",
        "delete my {timer} timer",
        "cancel {timer} timers",
    ],
)
def cancel_timer(
    ctx: Context,
    timer: Annotated[str, "Label, length or id of the timer; `all` for every one; empty where only one runs."] = "",
) -> Result:
    """Cancel a running timer."""
    running = sorted(ctx.reminders("timer"), key=lambda one: one.at)
    said = _clean(timer)
    if said.startswith("#") and not _matching(running, said):
        return Result("That timer has already ended.")
    if not running:
        return Result("No timers are running.")
    if said in {"all", "all my", "every", "all the", "all of them"}:
        for one in running:
            ctx.forget(one.id)
        return Result(f"Cancelled {counted(len(running), 'timer')}.")
    chosen = _matching(running, said) if said else running
    if not chosen:
        raise ToolError(f"There is no {said} timer. Running: {listed([f'the {one.label} timer' for one in running])}.")
    if len(chosen) > 1:
        raise ToolError(f"Which timer: {' or '.join(f'the {one.label} timer' for one in chosen)}?")
    one = chosen[0]
    left = max(1, round(one.at.timestamp() - utc_now().timestamp()))
    ctx.forget(one.id)
    undo = {"tool": "set_timer", "arguments": {"duration": left, "label": one.label}}
    return Result(f"The {one.label} timer is cancelled, with {length(timedelta(seconds=left))} left.", data={"undo": undo})


@tool(
    risk="write",
    examples=[
        "start the stopwatch",
        "start a stopwatch",
        "begin timing",
        "start timing me",
        "stopwatch start",
        "resume the stopwatch",
        "start the stop watch",
        "time me from now",
    ],
)
def stopwatch_start(
    ctx: Context,
    began: Annotated[float, "When it began, in seconds since 1970; 0 for now, or to go on from where it was stopped."] = 0,
) -> Result:
    """Start the stopwatch, or let it go on."""
    watch = _watch(ctx)
    if watch["since"] is not None:
        return Result(f"The stopwatch is already running: {_shown(_elapsed(watch))}.")
    now = utc_now().timestamp()
    started = {"since": began, "before": 0.0} if 0 < began < now else {**watch, "since": now}
    ctx.state.put(STOPWATCH, started)
    undo = {"tool": "stopwatch_reset", "arguments": {"seconds": watch["before"]} if watch["before"] else {}}
    shown = _elapsed(started)
    return Result(f"The stopwatch goes on from {_shown(shown)}." if shown else "The stopwatch is running.", data={"undo": undo})


@tool(
    examples=[
        "what does the stopwatch say",
        "read the stopwatch",
        "how long has the stopwatch been running",
        "check the stopwatch",
        "what's the stopwatch at",
        "show me the stopwatch",
    ],
)
def stopwatch_read(ctx: Context) -> str:
    """Tell how long the stopwatch has run."""
    watch = _watch(ctx)
    seconds = _elapsed(watch)
    if watch["since"] is not None:
        return f"{_upper(_shown(seconds))} so far."
    return f"The stopwatch is stopped at {_shown(seconds)}." if seconds else "The stopwatch isn't running."


@tool(
    risk="write",
    examples=[
        "stop the stopwatch",
        "pause the stopwatch",
        "stop timing",
        "stopwatch stop",
        "halt the stopwatch",
        "end the stopwatch",
        "stop the stop watch",
    ],
)
def stopwatch_stop(ctx: Context) -> Result:
    """Stop the stopwatch and tell the time; it can go on from there."""
    watch = _watch(ctx)
    if watch["since"] is None:
        return Result("The stopwatch isn't running.")
    seconds = _elapsed(watch)
    ctx.state.put(STOPWATCH, {"since": None, "before": seconds})
    return Result(f"Stopped at {_shown(seconds)}.", data={"undo": _as_before(watch)})


@tool(
    risk="write",
    examples=[
        "reset the stopwatch",
        "clear the stopwatch",
        "set the stopwatch to zero",
        "stopwatch reset",
        "zero the stopwatch",
        "restart the stopwatch from zero",
        "put the stopwatch back to zero",
    ],
)
def stopwatch_reset(
    ctx: Context, seconds: Annotated[float, "What it shall show, in seconds; zero unless something else is wanted."] = 0
) -> Result:
    """Stop the stopwatch and set it to zero."""
    watch = _watch(ctx)
    data = {"undo": _as_before(watch)} if _elapsed(watch) or watch["since"] is not None else None
    if seconds > 0:
        ctx.state.put(STOPWATCH, {"since": None, "before": seconds})
        return Result(f"The stopwatch is stopped at {_shown(seconds)}.", data=data)
    ctx.state.delete(STOPWATCH)
    return Result("The stopwatch is at zero.", data=data)


def _as_before(watch: dict[str, Any]) -> dict[str, Any]:
    """The call that makes the stopwatch what it was, as if it had run on."""
    if watch["since"] is None:
        return {"tool": "stopwatch_reset", "arguments": {"seconds": watch["before"]}}
    return {"tool": "stopwatch_start", "arguments": {"began": watch["since"] - watch["before"]}}


def _watch(ctx: Context) -> dict[str, Any]:
    return dict(ctx.state.get(STOPWATCH, None) or {"since": None, "before": 0.0})


def _elapsed(watch: dict[str, Any]) -> float:
    running = 0.0 if watch["since"] is None else max(0.0, utc_now().timestamp() - watch["since"])
    return float(watch["before"]) + running


def _shown(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} seconds"
    return length(timedelta(seconds=seconds))


def _clean(label: str) -> str:
    """A label or a timer's name as said, without what surrounds it."""
    text = re.sub(r"\s+", " ", label.replace("-", " ")).strip(" .!?\"'").casefold()[:60]
    text = re.sub(r"^(the|my|a|an|for)( the| my)? ", "", text)
    return re.sub(r"( timers?)$|^timers?$", "", text).strip()


def _matching(running: list[Any], said: str) -> list[Any]:
    """The timers that a name means: by id, by label, by a word of the label, in that order."""
    plain = re.sub(r"(?<=\w)s\b", "", number(_clean(said)))
    for fits in (
        lambda one: one.id == said.strip().removeprefix("#"),
        lambda one: re.sub(r"(?<=\w)s\b", "", one.label) == plain,
        lambda one: re.search(rf"\b{re.escape(plain)}", re.sub(r"(?<=\w)s\b", "", one.label)),
    ):
        if found := [one for one in running if plain and fits(one)]:
            return found
    return []


def _named(running: list[Any], now: float) -> str:
    return listed(
        [
            f"the {one.label} timer has {length(timedelta(seconds=max(0, round(one.at.timestamp() - now))))} left"
            for one in running
        ]
    )


def _upper(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
