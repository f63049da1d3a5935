"""Memory: facts that the assistant is told to remember, recalled by what they are about.

Above: whoever speaks to the assistant. Below: `ctx.state`, one key a fact, which the host indexes for full-text search. An
ordinary tool file. It refuses to know: notes, which are texts that the person keeps (see `notes.py`).
"""

from __future__ import annotations

import re
from typing import Annotated

from etui import Context, Refusal, Result, ToolError, tool

PREFIX = "fact/"
COUNTER = "counter"
LONGEST = 2000
"""Characters of one fact."""
PERSONS = {
    "i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "we": "you", "us": "you", "our": "your",
    "ours": "yours", "i'm": "you're", "i've": "you've", "i'll": "you'll", "i'd": "you'd", "we're": "you're",
    "we've": "you've", "am": "are",
}  # fmt: skip
FILLERS = {
    "a", "about", "an", "and", "any", "anything", "are", "at", "be", "did", "do", "does", "for", "had", "has", "have", "how",
    "i", "in", "is", "it", "its", "know", "m", "many", "me", "much", "my", "name", "of", "on", "or", "our", "re", "recall",
    "remember", "s", "something", "tell", "that", "the", "this", "to", "us", "ve", "was", "we", "were", "what", "when",
    "where", "which", "who", "whom", "why", "you", "your",
}  # fmt: skip


@tool(
    risk="write",
    examples=[
        "remember that {fact}",
        "remember {fact}",
        "please remember that {fact}",
        "keep in mind that {fact}",
        "don't forget that {fact}",
        "for the future, know that {fact}",
        "you should know that {fact}",
        "memorize that {fact}",
        "just so you know, {fact}",
    ],
)
def remember(
    ctx: Context, fact: Annotated[str, "The fact in the person's words, such as: my sister is called Anna."]
) -> Result:
    """Remember a fact about the person or their world for later conversations."""
    if ctx.session.private:
        raise Refusal("This is a private chat: I keep nothing from it.")
    text = re.sub(r"^that\s+", "", " ".join(fact.split()), flags=re.IGNORECASE).strip(" .!")
    if not text:
        raise ToolError("What should I remember?")
    if len(text) > LONGEST:
        raise ToolError(f"That's too long for one fact, which may have {LONGEST:,} characters: make it a note.")
    for key, kept in _all(ctx):
        if kept.casefold() == text.casefold():
            return Result("I already remember that.", data={"id": _number(key)})
    number = int(ctx.state.update(COUNTER, lambda last: int(last) + 1, 0))
    ctx.state.put(f"{PREFIX}{number:06}", {"text": text})
    undo = {"tool": "forget", "arguments": {"query": f"#{number}"}}
    return Result(f"I'll remember that {_turned(text)}.", data={"id": number, "undo": undo})


@tool(
    examples=[
        "what do you remember about {query}",
        "do you remember {query}",
        "what do you know about {query}",
        "do you know {query}",
        "recall {query}",
        "what did I tell you about {query}",
        "what do you remember",
        "what do you know about me",
        "what was my {query} again",
    ],
)
def recall(ctx: Context, query: Annotated[str, "What it is about; empty for everything."] = "") -> Result:
    """Recall facts that the person asked to remember."""
    everything = not (set(_words(query)) - {"everything", "all"})
    found = _all(ctx)[::-1] if everything else _found(ctx, query)
    facts = [{"id": _number(key), "fact": text} for key, text in found]
    if not found:
        about = "" if everything else f" about {_turned(query.strip(' .?!'))}"
        return Result(f"I don't remember anything{about}.", data={"facts": []})
    said = "; ".join(_turned(text) for _, text in found[:8])
    more = f"; and {len(found) - 8} more things" if len(found) > 8 else ""
    return Result(f"You told me that {said}{more}.", data={"facts": facts})


@tool(
    risk="write",
    examples=[
        "forget that {query}",
        "forget about {query}",
        "forget what I said about {query}",
        "forget what I told you about {query}",
        "don't remember {query} any more",
        "delete {query} from your memory",
        "forget {query}",
    ],
)
def forget(ctx: Context, query: Annotated[str, "The fact or words of it."]) -> Result:
    """Forget one remembered fact."""
    if number := re.fullmatch(r"#(\d{1,6})", query.strip()):
        found = [(key, text) for key, text in _all(ctx) if _number(key) == int(number[1])]
    else:
        found = _found(ctx, query)
    exact = [one for one in found if one[1].casefold() == query.strip(" .!").casefold()]
    found = exact or found
    if not found:
        raise ToolError(f"I don't remember anything about {_turned(query.strip(' .?!'))}.")
    if len(found) > 1:
        raise ToolError(f"Which of these should I forget: {'; or '.join(_turned(text) for _, text in found[:5])}?")
    key, text = found[0]
    ctx.state.delete(key)
    undo = {"tool": "remember", "arguments": {"fact": text}}
    return Result(f"I've forgotten that {_turned(text)}.", data={"id": _number(key), "undo": undo})


def _all(ctx: Context) -> list[tuple[str, str]]:
    kept = ((key, ctx.state.get(key, None)) for key in sorted(ctx.state.keys(PREFIX)))
    return [(key, str(value["text"])) for key, value in kept if value]


def _found(ctx: Context, query: str) -> list[tuple[str, str]]:
    """The facts that hold all the words that count, or else the most of them; the best first."""
    words = _words(query)
    if not words:
        return []
    hits: dict[str, tuple[int, str]] = {}
    for word in words:
        for hit in ctx.state.search(_stem(word), prefix=PREFIX, limit=50):
            hits[hit["key"]] = (hits.get(hit["key"], (0, ""))[0] + 1, str(hit["value"]["text"]))
    best = max((count for count, _ in hits.values()), default=0)
    return [(key, text) for key, (count, text) in sorted(hits.items(), reverse=True) if count == best]


def _words(query: str) -> list[str]:
    plain = re.sub(r"'s\b|'", " ", query.casefold().replace("’", "'"))
    return [word for word in dict.fromkeys(re.findall(r"\w+", plain)) if word not in FILLERS]


def _stem(word: str) -> str:
    """The word without the plural's end; the host finds words that begin with it."""
    return word[:-1] if len(word) > 4 and word.endswith("s") and not word.endswith("ss") else word


def _turned(text: str) -> str:
    """What the person said of themselves, as it is said to them: "my car" is "your car"."""
    return re.sub(r"[\w’']+", lambda word: PERSONS.get(word[0].replace("’", "'").casefold(), word[0]), text)


def _number(key: str) -> int:
    return int(key.removeprefix(PREFIX))
