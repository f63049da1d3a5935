"""Reads what people say for a moment: "in 20 minutes", "tomorrow at 5 pm", "every weekday at half past seven", or ISO 8601.

Above: `clock.py` and `reminders.py`. Below: `_settle.py`, which says the moment that is meant, and `dateparser` for
languages other than English. What is not understood to the last word is an error and never a guess. It refuses to know:
what the moment is for.
"""

from __future__ import annotations

import calendar
import re
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ._settle import (
    DAY_STARTS,
    NotUnderstood,
    Reading,
    When,
    at_wall,
    day_of_month,
    not_understood,
    on_weekday,
    settle,
)

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = tuple(name.lower() for name in calendar.month_name)
UNITS = {"second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3600, "hr": 3600}
UNITS |= {"day": 86400, "week": 604800, "fortnight": 1209600}
ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16,
    "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20, "thirtieth": 30,
}  # fmt: skip
FEASTS = {
    "christmas eve": (12, 24), "christmas day": (12, 25), "christmas": (12, 25), "boxing day": (12, 26),
    "new years eve": (12, 31), "new years day": (1, 1), "new year": (1, 1), "new years": (1, 1), "halloween": (10, 31),
    "valentines day": (2, 14),
}  # fmt: skip
DAY = "|".join(WEEKDAYS)
MONTH = "|".join(f"{name}|{name[:3]}" for name in MONTHS[1:]) + "|sept"
ORDINAL = r"(\d{1,2})(?:st|nd|rd|th)?"


def read(words: str, now: datetime, *, language: str = "en", early: bool = False) -> When:
    """The coming moment that the words mean; `early` takes a bare "at 6" for the morning, as for an alarm.

    `now` is aware and its zone is the person's. Raises NotUnderstood with a sentence.
    """
    if exact := _iso(words, now):
        return When(_coming(exact, now, words))
    reading = Reading(now, _plain(words))
    try:
        for reader in (_repeat, _relative, _day, _time):
            reader(reading)
        rest = re.sub(
            r"\b(on|at|in|the|by|of|for|from|and|around|about|this|then|again|a|time|s|please)\b|[,.]", " ", reading.rest
        ).strip()
        if rest or not words.strip():
            raise NotUnderstood(not_understood(words))
        return settle(reading, words, early)
    except (ValueError, OverflowError):
        raise NotUnderstood(f"There is no such date or time as {words!r}.") from None
    except NotUnderstood:
        if language[:2] in {"en", ""} or not (found := _foreign(words, now, language[:2])):
            raise
        return When(_coming(found, now, words))


def read_day(words: str, now: datetime, *, language: str = "en") -> date:
    """The day that the words mean, past or coming. Raises NotUnderstood with a sentence."""
    if exact := _iso(words, now):
        return exact.date()
    reading = Reading(now, _plain(words))
    try:
        _relative(reading)
        _day(reading)
        if reading.exact:
            return reading.exact.date()
        if reading.weekday is not None:
            return on_weekday(reading, strictly=True)
    except (ValueError, OverflowError):
        raise NotUnderstood(f"There is no such day as {words!r}.") from None
    if reading.day and not re.sub(r"\b(on|the|of|in|is|this|day)\b|[,.]", " ", reading.rest).strip():
        return reading.day
    if language[:2] not in {"en", ""} and (found := _foreign(words, now, language[:2])):
        return found.date()
    raise NotUnderstood(f"I don't know which day {words!r} is. Say it like Friday, 4 July or 2027-03-01.")


def zone_of(name: str) -> ZoneInfo:
    """The time zone of that name; UTC for a name that is none."""
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


def _coming(moment: datetime, now: datetime, words: str) -> datetime:
    if moment <= now:
        raise NotUnderstood(f"{words.strip()!r} has already passed.")
    return moment


def number(words: str) -> str:
    """The text with number words written as digits: "twenty five" is 25."""
    tens, ones = "|".join(TENS), "|".join(ONES)

    def both(found: re.Match[str]) -> str:
        return str(TENS[found[1]] + (ONES.index(found[2]) if found[2] else 0))

    text = re.sub(rf"\b({tens})(?:[ -]({'|'.join(ONES[1:10])}))?\b", both, words)
    return re.sub(rf"\b({ones})\b", lambda found: str(ONES.index(found[1])), text)


def _plain(words: str) -> str:
    text = " ".join(words.casefold().replace("’", "'").split())
    text = re.sub(r"(\w)'s\b", r"\1s", text).replace("o'clock", "oclock").strip(" .!?")
    text = re.sub(r"\b(a|p)\.? ?m\b\.?", r"\1m", text)
    text = re.sub(r"\b(twenty|thirty)[ -](first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)\b", _joined_ordinal, text)
    text = re.sub(rf"\b({'|'.join(ORDINALS)})\b(?! (?:timer|alarm)\b)", _ordinal, text)
    return number(text)


def _joined_ordinal(found: re.Match[str]) -> str:
    return f"{TENS[found[1]] + ORDINALS[found[2]]}th"


def _ordinal(found: re.Match[str]) -> str:
    # "second" is first of all a unit of time.
    return found[0] if found[0] == "second" else f"{ORDINALS[found[0]]}th"


def _iso(words: str, now: datetime) -> datetime | None:
    text = words.strip()
    if not re.match(r"\d{4}-\d\d-\d\d", text):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if len(text) == 10:
        return at_wall(moment.date(), time(DAY_STARTS), now.tzinfo)
    return moment.astimezone(now.tzinfo) if moment.tzinfo else at_wall(moment.date(), moment.time(), now.tzinfo)


def _foreign(words: str, now: datetime, language: str) -> datetime | None:
    import dateparser  # slow to import, and only some people need it

    settings = {"PREFER_DATES_FROM": "future", "RELATIVE_BASE": now.replace(tzinfo=None), "DEFAULT_LANGUAGES": ["en"]}
    plain = re.sub(r"\b(\d{1,2}) ?(?:uhr|heures?|horas?|h)\b", r"\1:00", words[:100].casefold())
    try:
        found = dateparser.parse(plain, languages=[language], settings=settings)
    except ValueError:
        return None
    return at_wall(found.date(), found.time(), now.tzinfo) if found else None


def _repeat(reading: Reading) -> None:
    if reading.take(r"every other \w+|every \d+ \w+|every (?:hour|minute|second)|hourly|every weekend|on weekends"):
        raise NotUnderstood("I can repeat daily, on weekdays, weekly, monthly or yearly, and in no other rhythm yet.")
    if reading.take(r"(?:every|each|on) (?:weekdays?|work ?days?)|weekdays"):
        reading.repeat = "weekdays"
    elif found := reading.take(rf"(?:every|each) ({DAY})s?|(?:on )?({DAY})s"):
        reading.repeat, reading.weekday = "weekly", WEEKDAYS.index(found[1] or found[2])
    elif found := reading.take(r"(?:every|each) (morning|afternoon|evening|night)"):
        reading.repeat, reading.part = "daily", found[1]
    elif found := reading.take(
        r"(?:every|each) (?:single )?(day|week|month|year)|(daily|weekly|monthly|yearly|annually)|(every ?day)"
    ):
        word = found[1] or found[2] or "day"
        reading.repeat = {"day": "daily", "week": "weekly", "month": "monthly", "year": "yearly", "annually": "yearly"}.get(
            word, word
        )


def _relative(reading: Reading) -> None:
    """ "In an hour and a half", "20 minutes from now", "in 3 days at noon"."""
    amount = r"(?:\d+(?:\.\d+)?(?: and a half)?|an?|half an?|half|(?:a )?couple of|(?:a )?quarter of an?|3 quarters of an?)"
    unit = r"(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|fortnights?|months?|years?|h|m|s)"
    one = rf"{amount} ?{unit}(?: and a (?:half|quarter))?"
    found = reading.take(rf"in (?:about )?({one}(?:,? (?:and )?{one})*)(?: time)?|({one}(?:,? (?:and )?{one})*) from now")
    if not found and re.fullmatch(rf"{one}(?:,? (?:and )?{one})*", reading.rest):
        found = reading.take(r"(.+)()")
    if not found:
        if re.search(r"\bin \d+$", reading.rest):
            raise NotUnderstood(f"In {reading.rest.split()[-1]} what: seconds, minutes, hours or days?")
        return
    moment = reading.now
    exact = False
    for said, kind, more in re.findall(rf"({amount}) ?({unit})( and a (?:half|quarter))?(?!\w)", found[1] or found[2]):
        moment, to_the_second = _moved(moment, _amount(said) + {" and a half": 0.5, " and a quarter": 0.25}.get(more, 0), kind)
        exact = exact or to_the_second
    if exact:
        reading.exact = moment
    else:
        reading.day, reading.hour, reading.minute, reading.moved = moment.date(), None, 0, True


def _amount(said: str) -> float:
    if said[0].isdigit() and "quarters" not in said:
        return float(said.split()[0]) + (0.5 if said.endswith("half") else 0)
    return {"h": 0.5, "q": 0.25, "3": 0.75, "c": 2.0}.get(said.removeprefix("a ")[0], 1.0)


def _moved(moment: datetime, amount: float, unit: str) -> tuple[datetime, bool]:
    """The moment so much later, and whether it is exact to the second (hours and less) or a day."""
    word = unit.rstrip("s") or "s"
    word = {"h": "hour", "m": "minute", "s": "second"}.get(word, word)
    if word in {"month", "year"}:
        months = moment.month - 1 + round(amount * (12 if word == "year" else 1))
        year, month = moment.year + months // 12, months % 12 + 1
        day = min(moment.day, calendar.monthrange(year, month)[1])
        return at_wall(date(year, month, day), moment.time(), moment.tzinfo), False
    seconds = amount * UNITS[word]
    if UNITS[word] >= 86400 and seconds % 86400 == 0:
        return at_wall(moment.date() + timedelta(seconds=seconds), moment.time(), moment.tzinfo), False
    return (moment.astimezone(UTC) + timedelta(seconds=seconds)).astimezone(moment.tzinfo), True


def _day(reading: Reading) -> None:
    today = reading.now.date()
    if reading.take(r"(?:the )?day after tomorrow|overmorrow"):
        reading.day = today + timedelta(2)
    elif reading.take(r"(?:the )?day before yesterday"):
        reading.day = today - timedelta(2)
    elif found := reading.take(r"today|tomorrow|tmrw|tmr|yesterday"):
        reading.day = today + timedelta({"today": 0, "yesterday": -1}.get(found[0], 1))
    elif reading.take(r"tonight|this night"):
        reading.day, reading.part = today, "tonight"
    elif found := reading.take(r"this (morning|afternoon|evening)"):
        reading.day, reading.part = today, found[1]
    if reading.take(r"next week"):
        reading.next_week = True
    if found := reading.take(r"next (month|year)"):
        reading.day = _moved(reading.now, 1, found[1])[0].date()
    if found := reading.take(
        rf"(?:on |this |coming |next |the )*({DAY})|(?:on |this |next )?(mon|tues?|weds?|thu(?:rs?)?|fri|sat|sun)"
    ):
        short = (found[1] or found[2])[:3]
        reading.weekday = next(i for i, name in enumerate(WEEKDAYS) if name.startswith(short))
    _calendar_day(reading)


def _calendar_day(reading: Reading) -> None:
    today = reading.now.date()
    if found := reading.take(r"(\d{4})-(\d\d)-(\d\d)"):
        reading.day = date(int(found[1]), int(found[2]), int(found[3]))
    elif found := reading.take(r"(\d{1,2})\.(\d{1,2})\.(\d{4})?"):
        reading.day = _dated(int(found[1]), int(found[2]), found[3], today)
    elif found := reading.take(
        rf"(?:the )?{ORDINAL} (?:of )?({MONTH})\.?(?:,? (\d{{4}}))?|({MONTH})\.? (?:the )?{ORDINAL}(?:,? (\d{{4}}))?"
    ):
        month = next(i for i, name in enumerate(MONTHS) if name.startswith((found[2] or found[4])[:3]) and name)
        reading.day = _dated(int(found[1] or found[5]), month, found[3] or found[6], today)
    elif found := reading.take("(" + "|".join(FEASTS) + r")(?: (\d{4}))?"):
        month, day = FEASTS[found[1]]
        reading.day = _dated(day, month, found[2], today)
    elif found := reading.take(r"(?:on )?the (\d{1,2})(?:st|nd|rd|th)?|(?:on )?(\d{1,2})(?:st|nd|rd|th)"):
        reading.day = day_of_month(int(found[1] or found[2]), today)


def _dated(day: int, month: int, year: str | None, today: date) -> date:
    """That day, in the coming year of it where none was said."""
    if year:
        return date(int(year), month, day)
    for ahead in range(9):
        if (month, day) != (2, 29) or calendar.isleap(today.year + ahead):
            found = date(today.year + ahead, month, day)
            if found >= today:
                return found
    raise ValueError


def _time(reading: Reading) -> None:
    half = r"(?: ?(am|pm)| in the (morning|afternoon|evening)| (at night)| (tonight))"
    if found := reading.take(
        rf"(half|quarter|\d{{1,2}}(?: minutes?)?) (past|after|to|before) (\d{{1,2}}|noon|midnight)(?: oclock)?{half}?"
    ):
        _past(reading, found)
    elif found := reading.take(rf"(?:at |by )?(\d{{1,2}})[:.h](\d\d)(?::\d\d)?(?: oclock| hours)?{half}?"):
        _clock(reading, int(found[1]), int(found[2]), found.groups()[2:])
    elif found := reading.take(rf"(?:at |by )?(\d{{1,2}}) (\d\d){half}|at (\d{{1,2}}) (\d\d)"):
        _clock(reading, int(found[1] or found[7]), int(found[2] or found[8]), found.groups()[2:6])
    elif found := reading.take(rf"(?:at |by )?(\d{{1,2}})(?: oclock)?{half}|(?:at |by |around )?(\d{{1,2}})(?: oclock)?"):
        _clock(reading, int(found[1] or found[6]), 0, found.groups()[1:5])
    if found := reading.take(
        r"(?:in the |at |by )?(morning|noon|midday|lunchtime|lunch|afternoon|evening|night|midnight|tonight)"
    ):
        if found[1] == "midnight":
            reading.hour, reading.half = 24, "pm"
        else:
            reading.part = found[1]


def _past(reading: Reading, found: re.Match[str]) -> None:
    minutes = {"half": 30, "quarter": 15}.get(found[1]) or int(found[1].split()[0])
    hour = {"noon": 12, "midnight": 0}.get(found[3])
    total = (int(found[3]) if hour is None else hour) * 60 + (minutes if found[2] in {"past", "after"} else -minutes)
    _clock(reading, total // 60 % 24, total % 60, found.groups()[3:])
    if hour is not None:
        reading.half = "am" if reading.hour is not None and reading.hour < 12 else "pm"


def _clock(reading: Reading, hour: int, minute: int, half: tuple[str | None, ...]) -> None:
    time(hour % 24, minute)
    if hour > 24:
        raise ValueError
    said = next((word for word in half if word), "")
    reading.hour, reading.minute = hour, minute
    reading.half = {"am": "am", "morning": "am", "at night": "pm" if hour > 5 else "am", "": ""}.get(said, "pm")
