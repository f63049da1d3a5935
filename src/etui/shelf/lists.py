"""Named lists, such as the shopping list: put things on, take them off, read them out.

Above: whoever speaks to the assistant. Below: `ctx.state`, one key a list, changed atomically. An ordinary tool file. It
refuses to know: what the things are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated

from etui import Context, Result, ToolError, tool

DEFAULT = "shopping"
SAME = {
    "groceries": DEFAULT,
    "grocery": DEFAULT,
    "shopping": DEFAULT,
    "food": DEFAULT,
    "todo": "to-do",
    "to do": "to-do",
    "to dos": "to-do",
    "tasks": "to-do",
}
PAIRS = {
    "mac and cheese",
    "fish and chips",
    "half and half",
    "salt and vinegar crisps",
    "bread and butter pickles",
    "peanut butter and jelly",
}
"""Single things whose names look like two."""
MOST = 500
"""Items that one list holds."""
AMOUNT = re.compile(
    r"^(an? (dozen|pack of|bottle of|box of|bag of|loaf of|can of|jar of)|half an?|an?|the|some|"
    r"dozen|\d+|two|three|four|five|six|ten)\s+"
)
LONGEST = 120
"""Characters of one item."""

ListName = Annotated[str, "Which list, such as shopping, packing or to-do."]


@tool(
    risk="write",
    examples=[
        "add {items} to my shopping list",
        "add {items} to the {list} list",
        "put {items} on the {list} list",
        "put {items} on my list",
        "add {items} to the list",
        "we need {items}",
        "we're out of {items}",
        "buy {items}",
        "write {items} on the {list} list",
        "there's no {items} left",
        "pop {items} on the {list} list",
        "I need to buy {items}",
    ],
)
def list_add(ctx: Context, items: Annotated[list[str], "The things to put on the list."], list: ListName = DEFAULT) -> Result:
    """Put one or more things on a list; the shopping list unless another is named."""
    name, wanted = _name(list), _items(items)
    if not wanted:
        raise ToolError(f"What should I put on the {name} list?")
    before = _kept(ctx, name)
    known = {_key(item) for item in before}
    new = [item for item in wanted if _key(item) not in known]
    if len(before) + len(new) > MOST:
        raise ToolError(f"The {name} list is full: it holds {MOST} things.")
    if new:
        _change(ctx, name, lambda kept: kept + [item for item in new if _key(item) not in {_key(one) for one in kept}])
    old = [item for item in wanted if item not in new]
    parts = ([f"Added {_listed(new)} to the {name} list."] if new else []) + (
        [f"{_upper(_listed(old))} {'was' if len(old) == 1 else 'were'} already on {'it' if new else f'the {name} list'}."]
        if old
        else []
    )
    undo = {"undo": {"tool": "list_remove", "arguments": {"items": _whole(new), "list": name}}} if new else {}
    return Result(" ".join(parts), data={"list": name, "added": new, **undo})


@tool(
    risk="write",
    examples=[
        "remove {items} from my shopping list",
        "take {items} off the list",
        "take {items} off the {list} list",
        "delete {items} from the {list} list",
        "remove {items} from the {list} list",
        "cross {items} off the {list} list",
        "I've got {items}, take it off the list",
        "we don't need {items} any more",
        "we don't need {items} after all",
        "I bought {items}, take it off the list",
        "cross off {items}",
    ],
)
def list_remove(ctx: Context, items: Annotated[list[str], "The things to take off."], list: ListName = DEFAULT) -> Result:
    """Take one or more things off a list; the shopping list unless another is named."""
    name, wanted = _name(list), _items(items)
    kept = _kept(ctx, name)
    meant = {one: _meant(kept, one) for one in wanted}
    gone = [item for item in kept if any(item in items for items in meant.values())]
    missing = [one for one in wanted if not meant[one]]
    if not wanted:
        raise ToolError(f"What should I take off the {name} list?")
    if not gone:
        raise ToolError(f"There is no {' or '.join(missing)} on the {name} list.")
    keys = {_key(item) for item in gone}
    _change(ctx, name, lambda now: [item for item in now if _key(item) not in keys])
    text = f"Took {_listed(gone)} off the {name} list."
    if missing:
        text += f" {_upper(_listed(missing))} {'was' if len(missing) == 1 else 'were'} not on it."
    data = {"list": name, "removed": gone, "undo": {"tool": "list_add", "arguments": {"items": _whole(gone), "list": name}}}
    return Result(text, data=data)


@tool(
    examples=[
        "what's on my shopping list",
        "what's on the {list} list",
        "show me the {list} list",
        "read me the {list} list",
        "what's on it",
        "what's on the list",
        "what do we need to buy",
        "what do I need from the shop",
        "read out my list",
        "is there anything on the {list} list",
        "what's left on the {list} list",
        "what was on my list",
    ],
)
def list_show(ctx: Context, list: ListName = DEFAULT) -> Result:
    """Read out what is on a list; the shopping list unless another is named."""
    name = _name(list)
    kept = _kept(ctx, name)
    if not kept:
        return Result(f"The {name} list is empty.", data={"list": name, "items": []})
    return Result(f"On the {name} list: {_listed(kept)}.", data={"list": name, "items": kept})


@tool(
    examples=[
        "what lists do I have",
        "show my lists",
        "which lists are there",
        "list all my lists",
        "show me all lists",
        "do I have any lists",
    ],
)
def lists(ctx: Context) -> Result:
    """Tell which lists there are and how much is on each."""
    sizes = {key.removeprefix("list/"): len(ctx.state.get(key, []) or []) for key in sorted(ctx.state.keys("list/"))}
    sizes = {name: size for name, size in sizes.items() if size}
    if not sizes:
        return Result("All lists are empty.", data={"lists": {}})
    said = [f"{name} with {size} {'thing' if size == 1 else 'things'}" for name, size in sizes.items()]
    return Result(
        f"You have {'one list' if len(sizes) == 1 else f'{len(sizes)} lists'}: {_listed(said)}.", data={"lists": sizes}
    )


@tool(
    risk="write",
    examples=[
        "clear my shopping list",
        "clear the {list} list",
        "empty the {list} list",
        "delete everything on the {list} list",
        "wipe the {list} list",
        "delete the {list} list",
        "remove everything from the {list} list",
        "start the {list} list over",
    ],
)
def list_clear(ctx: Context, list: ListName = DEFAULT) -> Result:
    """Take everything off a list; the shopping list unless another is named."""
    name = _name(list)
    kept = _kept(ctx, name)
    if not kept:
        return Result(f"The {name} list is already empty.", data={"list": name})
    ctx.state.delete(f"list/{name}")
    data = {"list": name, "removed": kept, "undo": {"tool": "list_add", "arguments": {"items": _whole(kept), "list": name}}}
    return Result(f"The {name} list is empty now; {_count(len(kept))} gone.", data=data)


def _kept(ctx: Context, name: str) -> list[str]:
    return [str(item) for item in ctx.state.get(f"list/{name}", []) or []]


def _change(ctx: Context, name: str, change: Callable[[list[str]], list[str]]) -> None:
    ctx.state.update(f"list/{name}", change, [])


def _name(said: str) -> str:
    """A list's name as it is kept: "my Grocery list" is the shopping list."""
    name = re.sub(r"[^\w\s'-]", " ", said.casefold())
    name = re.sub(r"^((on |to |from |off )?(the |my |our |a )|(on|from|off) )", "", " ".join(name.split()))
    name = re.sub(r"(^| )lists?$", "", name).strip(" '-")[:40]
    return SAME.get(name, name) or DEFAULT


def _items(items: list[str]) -> list[str]:
    """The things one by one: "milk and two eggs, bread" is three; what is said twice is one; what stands in quotes is whole."""
    found: dict[str, str] = {}
    for item in items:
        for thing in _parted(item, alone=len(items) == 1):
            if _key(thing):
                found.setdefault(_key(thing), thing[:LONGEST])
    return [*found.values()]


def _parted(item: str, alone: bool) -> list[str]:
    text = " ".join(item.split())
    if len(text) > 2 and text[0] == text[-1] == '"':
        return [text[1:-1]]
    # In a list of several things, each "and" belongs to a thing's name.
    parting = r"\s*[,;]\s*(?:and\s+)?|\s+and\s+(?:also\s+)?" if alone else r"\s*[,;]\s*"
    parts = [text] if _key(text) in PAIRS else re.split(parting, text)
    return [re.sub(r"^((some|more|the|also|and)\s+)+", "", part.strip(" .!?\"'"), flags=re.IGNORECASE) for part in parts]


def _whole(things: list[str]) -> list[str]:
    """The things as arguments that come back as they are."""
    return [thing if _items([thing]) == [thing] else f'"{thing}"' for thing in things]


def _key(item: str) -> str:
    return " ".join(re.findall(r"\w+", item.casefold()))


def _meant(kept: list[str], said: str) -> list[str]:
    """The kept things that a thing said means: the one called just so, else those that are the same."""
    return [item for item in kept if _key(item) == _key(said)] or [item for item in kept if _same(item, said)]


def _same(kept: str, said: str) -> bool:
    """Whether a thing said means one that is kept: the same, its plural, or the thing without its amount."""
    ours, theirs = (AMOUNT.sub("", _key(text), count=1) or _key(text) for text in (kept, said))
    return ours == theirs or ours.rstrip("s") == theirs.rstrip("s") or _key(kept) == _key(said)


def _listed(parts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def _count(number: int) -> str:
    return f"{number} {'thing is' if number == 1 else 'things are'}"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
