"""`kotoba.core.user_memory`: facts about the person, as Markdown that they can read and change.

`memory/topics/<topic>.md` in the working folder holds a list of facts, `memory/USER.md` the newest and the topics. A fact is
kept unless it is already there: only a new favourite takes the place of the old one, since nobody has two. Several workers may
write; each file is replaced whole. Below: `witnesses`. It refuses to know: who remembers.
"""

from __future__ import annotations

import itertools
import os
import re
import tempfile
import threading
import unicodedata
from pathlib import Path
from typing import Any

from etui.contracts.kotoba.witnesses import work

RECENT = 25
"""How many of the newest facts the index shows."""
LONGEST = 400
"""Characters of a fact."""
RELATED = 4
"""How many facts of other topics are given with a topic's own."""
_lock = threading.RLock()


def _named(words: str) -> frozenset[str]:
    return frozenset(words.split())


_LITTLE = _named(
    "the a an is are was were be been user users s i my me to of and has have had his her their its that it for on in with at "
    "by as this they them you your from or do does did will would can could also just any some very really "
    "el la los las un una de del con para por que su sus y o en se es"
)
_CLAUSE = _named(
    "i he she it they we you his her their its my our your the a an has have had is are was were does do did can will would "
    "likes loves prefers wants needs lives works hates owns plays speaks enjoys dislikes studies uses "
    "el la los las un una le les su sus tiene es son vive trabaja quiere prefiere gusta"
)
_JOINS = _named("and but y pero also")
_NOT = _named("no not never nunca sin doesnt dont isnt wont cant hates dislikes")
_BETWEEN = re.compile(r"\s(?:is|are|was|es|son|era)\s")
_FAVOURITE = re.compile(r"\b(?:favou?rite|preferred|favorit[oa]|preferid[oa])\b")
_BULLET = re.compile(r"^\s*[-*] (.+?)\s*$", re.MULTILINE)
_QUOTED = re.compile(r"[\"“”][^\"“”]{0,160}[\"“”]")


def memory_dir() -> Path:
    """The folder that the facts lie in."""
    return work() / "memory"


def topics_dir() -> Path:
    """The folder with one file for each topic."""
    return memory_dir() / "topics"


def user_md_path() -> Path:
    """The index."""
    return memory_dir() / "USER.md"


def slugify(topic: str) -> str:
    """The topic as a file is called: small letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", _plain(topic)).strip("-")[:80] or "general"


def topic_path(topic: str) -> Path:
    """The file of a topic."""
    return topics_dir() / f"{slugify(topic)}.md"


def unquoted(fact: str) -> str:
    """The fact without what stands in double quotes: a title is no part of a sentence."""
    return _QUOTED.sub(" ", fact or "")


def is_compound(fact: str) -> bool:
    """Whether it says more than one thing: a semicolon, or an "and" with a clause of its own behind it."""
    text = unquoted(fact)
    said = _words(text)
    return ";" in text or any(one in _JOINS and after in _CLAUSE for one, after in itertools.pairwise(said))


def list_topics() -> list[tuple[str, int]]:
    """The topics with how many facts each has, the biggest first."""
    counted = [(path.stem, len(_facts_in(path))) for path in sorted(topics_dir().glob("*.md"))]
    return sorted(((name, count) for name, count in counted if count), key=lambda one: -one[1])


def topic_facts(topic: str) -> list[str]:
    """The facts of one topic."""
    return _facts_in(topic_path(topic))


def existing_facts() -> list[str]:
    """Every fact."""
    return [fact for topic, _ in list_topics() for fact in topic_facts(topic)]


def recent_facts() -> list[str]:
    """The newest facts that are still kept, the newest last."""
    kept = set(existing_facts())
    text = _text(user_md_path()).partition("## Topics")[0]
    return [fact for fact in _BULLET.findall(text) if fact in kept]


def read_user_md() -> str:
    """The index as it stands."""
    return _text(user_md_path())


def duplicate_of(fact: str) -> str | None:
    """The fact that is kept and says the same, or None."""
    wanted = _meaning(fact)
    return next((kept for kept in existing_facts() if _meaning(kept) == wanted), None)


def write_fact(fact: str, topic: str = "general", *, filter_ephemeral: bool = False) -> dict[str, Any]:
    """Keep a fact, unless it is kept: `written`, `fact`, `reason`, `duplicate_of`, and what it replaced or contradicts."""
    fact = " ".join(str(fact or "").split())[:LONGEST]
    done: dict[str, Any] = {"written": False, "fact": fact, "duplicate_of": None, "retired": [], "conflicts": []}
    if not fact:
        return {**done, "reason": "empty"}
    with _lock:
        if known := duplicate_of(fact):
            return {**done, "reason": "duplicate", "duplicate_of": known}
        others = existing_facts()
        stale = [kept for kept in others if _replaces(fact, kept)]
        _forget(stale)
        _write(topic_path(topic), (_text(topic_path(topic)).rstrip() or f"# {slugify(topic)}\n") + f"\n- {fact}\n")
        _index([*recent_facts(), fact])
        opposed = [kept for kept in others if kept not in stale and _opposes(fact, kept)]
        return {**done, "written": True, "reason": "written", "retired": stale, "conflicts": opposed}


def append_fact(fact: str, topic: str = "general", *, filter_ephemeral: bool = False) -> bool:
    """Keep a fact; whether it was new."""
    return bool(write_fact(fact, topic)["written"])


def delete_topic(topic: str) -> bool:
    """Forget a topic with its facts; False if there is none."""
    with _lock:
        if not topic_path(topic).exists():
            return False
        topic_path(topic).unlink()
        _index(recent_facts())
        return True


def search_facts(query: str, limit: int = 12) -> list[dict[str, str]]:
    """The facts that share words with the query, those that share the most first: `topic` and `fact`."""
    wanted = _stems(query)
    found = [
        (len(wanted & _stems(f"{fact} {topic}")), {"topic": topic, "fact": fact})
        for topic, _ in list_topics()
        for fact in topic_facts(topic)
    ]
    return [one for score, one in sorted(found, key=lambda one: -one[0]) if score][:limit]


def recall(topic: str) -> dict[str, Any]:
    """What is kept under a topic, and what else the word finds; what it finds anywhere, where there is no such topic."""
    facts, found = topic_facts(topic), search_facts(topic)
    if facts:
        related = [one for one in found if one["fact"] not in facts][:RELATED]
        return {"topic": slugify(topic), "path": f"memory/topics/{slugify(topic)}.md", "facts": facts, "related": related}
    answer: dict[str, Any] = {"topic": slugify(topic), "path": None, "facts": [one["fact"] for one in found]}
    return answer if found else {**answer, "available_topics": [name for name, _ in list_topics()]}


def _facts_in(path: Path) -> list[str]:
    return _BULLET.findall(_text(path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _plain(text: str) -> str:
    """Without capitals and accents."""
    spread = unicodedata.normalize("NFKD", str(text or "").lower())
    return "".join(char for char in spread if not unicodedata.combining(char)).replace("'", "").replace("’", "")


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", _plain(text)) or re.findall(r"\w+", _plain(text))


def _meaning(fact: str) -> frozenset[str]:
    """The words that count; two facts with the same say the same."""
    said = _words(fact)
    return frozenset(word for word in said if word not in _LITTLE) or frozenset(said)


def _stems(text: str) -> frozenset[str]:
    """The words that count, without endings, so that "live" finds "lives"."""
    return frozenset(re.sub(r"(?<=...)(?:ing|ed|es|s|e|a|o)$", "", word) for word in _meaning(text))


def _favourite(fact: str) -> tuple[frozenset[str], str] | None:
    """Whose favourite what it states, and what that is; None if it states none, or several."""
    parts = _BETWEEN.split(_plain(fact), maxsplit=1)
    if len(parts) != 2 or not _FAVOURITE.search(parts[0]) or is_compound(fact) or parts[0].rstrip().endswith("s"):
        return None
    about = frozenset(word for word in _words(_FAVOURITE.sub("favourite", parts[0])) if word not in _LITTLE)
    return (about, parts[1].strip()) if len(about) > 1 else None


def _replaces(fact: str, kept: str) -> bool:
    new, old = _favourite(fact), _favourite(kept)
    return new is not None and old is not None and new[0] == old[0] and new[1] != old[1]


def _opposes(fact: str, kept: str) -> bool:
    """Whether one denies what the other says."""
    new, old = _meaning(fact), _meaning(kept)
    return bool(new & _NOT) != bool(old & _NOT) and _stems(" ".join(new - _NOT)) == _stems(" ".join(old - _NOT))


def _forget(facts: list[str]) -> None:
    for path in topics_dir().glob("*.md") if facts else ():
        rows = _text(path).splitlines(keepends=True)
        kept = [row for row in rows if not any(row.strip() in (f"- {fact}", f"* {fact}") for fact in facts)]
        if len(kept) != len(rows):
            _write(path, "".join(kept))


def _index(recent: list[str]) -> None:
    facts = "\n".join(f"- {fact}" for fact in dict.fromkeys(recent[-RECENT:]))
    topics = "\n".join(f"- [{name}](topics/{name}.md): {count}" for name, count in list_topics())
    _write(user_md_path(), f"# What is remembered\n\n## Recent\n\n{facts}\n\n## Topics\n\n{topics}\n")


def _write(path: Path, text: str) -> None:
    """Replace the file whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(name).replace(path)
