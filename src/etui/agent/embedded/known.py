"""A tool as the matcher knows it: its parameters, its templates, and the sentences that stand for it.

Above: choose, fill and questions. Below: templates and parameters. It refuses to know any tool by name. A tool without examples
gets weaker templates, made from its description and its name.
"""

from __future__ import annotations

import re
from functools import cached_property

import msgspec

from etui.agent.embedded.align import Match
from etui.agent.embedded.durations import SECONDS
from etui.agent.embedded.lexicon import names
from etui.agent.embedded.numbers import tidy
from etui.agent.embedded.parameters import Kind, Parameter, parameters_of
from etui.agent.embedded.reading import Reading
from etui.agent.embedded.slots import slotted
from etui.agent.embedded.templates import Slot, Template, templates_of
from etui.agent.embedded.words import PREPOSITIONS, STOP, bare, cut
from etui.agent.model import ToolView
from etui.tool import Risk

_MOST_TEXTS = 40
_LIKELY = {
    "city": "Paris",
    "place": "Paris",
    "location": "Paris",
    "room": "kitchen",
    "item": "milk",
    "items": "milk and eggs",
    "product": "milk",
    "recipient": "Anna",
    "person": "Anna",
    "to": "Anna",
    "contact": "Anna",
    "name": "Anna",
    "text": "call the dentist",
    "message": "I am late",
    "body": "I am late",
    "note": "call the dentist",
    "content": "call the dentist",
    "task": "call the dentist",
    "query": "the keys",
    "song": "a song",
    "artist": "Queen",
    "list": "shopping",
    "path": "notes.txt",
    "file": "notes.txt",
    "fact": "my car is blue",
    "country": "France",
    "language": "French",
    "topic": "history",
}
_PLACES = {"city", "place", "location", "country", "town", "region", "room", "area", "zone"}
_PEOPLE = {"recipient", "person", "contact", "to", "friend"}
_SAYS = {"text", "message", "body", "content"}
_RISKY = {
    bare(word)
    for word in names(
        "send delete erase wipe pay purchase buy order transfer email sms tweet publish uninstall shutdown reboot "
        "format overwrite destroy drop donate unsubscribe dial trash"
    )
}


class Known(msgspec.Struct, frozen=True, dict=True):
    """One tool, made ready."""

    view: ToolView
    parameters: dict[str, Parameter]
    templates: tuple[Template, ...]

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.view.name

    @cached_property
    def required(self) -> tuple[Parameter, ...]:
        """What it cannot do without."""
        return tuple(parameter for parameter in self.parameters.values() if parameter.required)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The sentences that stand for it, slots filled with something likely."""
        said = [self.sample(template) for template in self.templates]
        return tuple(dict.fromkeys([*said[: _MOST_TEXTS - 1], self.first_sentence]))

    @property
    def first_sentence(self) -> str:
        """What it does, in short."""
        text = re.split(r"(?<=[.!?])\s", self.view.description.strip().replace("\n", " "), maxsplit=1)[0]
        return text[:200] or self.name.replace("_", " ")

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The common forms of the words by which people speak of it."""
        named = " ".join(one.spoken for one in self.parameters.values())
        words = f"{self.name.replace('_', ' ')} {self.view.description[:300]} {named}"
        own = {bare(word.text) for word in cut(words) if word.text not in STOP}
        return frozenset(own | {root for template in self.templates for root in template.roots if root})

    @cached_property
    def frame(self) -> frozenset[str]:
        """The roots of the words that its templates are made of."""
        return frozenset(root for template in self.templates for root in template.needs)

    @cached_property
    def leads(self) -> dict[str, frozenset[str]]:
        """The prepositions that stand before each parameter in the templates."""
        found: dict[str, set[str]] = {}
        for template in self.templates:
            for before, item in zip(template.items, template.items[1:], strict=False):
                if isinstance(item, Slot) and isinstance(before, str) and before in PREPOSITIONS:
                    found.setdefault(item.names[0], set()).add(before)
        return {name: frozenset(words) for name, words in found.items()}

    @cached_property
    def risky(self) -> bool:
        """True if it sends, deletes or pays, by its name or the first sentence of its description."""
        words = {bare(word.text) for word in cut(f"{self.name.replace('_', ' ')}. {self.first_sentence}")}
        return bool(words & _RISKY)

    @property
    def reads(self) -> bool:
        """True if it changes nothing."""
        return self.view.risk in (Risk.READ, Risk.NETWORK) and not self.risky

    def sample(self, template: Template) -> str:
        """A template with something likely in its slots."""
        return self.filled(template, {})

    def filled(self, template: Template, arguments: dict[str, object]) -> str:
        """A template as it was written, with these arguments in its slots and something likely where one is missing."""

        def value(match: re.Match[str]) -> str:
            name = match[1].split(":")[-1]
            return self.said(name, arguments[name]) if name in arguments else self._likely(name)

        line = re.sub(r"\{\s*([\w:]+)[^{}]*\}", value, template.text)
        return re.sub(r"\b1 (second|minute|hour|day|week)s\b", r"1 \1", line)

    def said(self, name: str, value: object) -> str:
        """An argument as it is said: a length of time in its largest whole unit."""
        parameter = self.parameters.get(name)
        style = parameter.style if parameter else ""
        if (
            parameter is None
            or parameter.kind is not Kind.DURATION
            or style not in SECONDS
            or not isinstance(value, int | float)
        ):
            return spoken(value)
        seconds = value * SECONDS[style]
        unit = next(
            (unit for unit in ("hour", "minute") if seconds >= SECONDS[unit] and seconds % SECONDS[unit] == 0), "second"
        )
        amount = tidy(seconds / SECONDS[unit])
        return f"{amount} {unit}{'' if amount == 1 else 's'}"

    def framed(self, reading: Reading, where: dict[str, tuple[int, int]]) -> str:
        """The sentence with something likely in the place of each value."""
        parts, at = [], 0
        for name, (start, end) in sorted(where.items(), key=lambda one: one[1]):
            if start < at:
                continue
            parts += [reading.said(at, start) if start > at else "", self._likely(name)]
            at = end
        parts.append(reading.said(at, len(reading.words)) if at < len(reading.words) else "")
        return " ".join(part for part in parts if part)

    def shows(self, parameter: Parameter) -> bool:
        """True if something likely stands for the parameter in a sample, and not its own name."""
        return parameter.kind is not Kind.TEXT or self._likely(parameter.name) != parameter.spoken

    def _likely(self, name: str) -> str:
        parameter = self.parameters.get(name)
        if parameter is None:
            return _LIKELY.get(name, name.replace("_", " "))
        if parameter.choices:
            return str(parameter.choices[0])
        hint = re.search(
            r"(?:e\.g\.|such as|for example|like)[:,]?\s+['\"]?([\w .*+'-]{2,30}?)['\"]?(?:$|[.,;)]| or )",
            parameter.description,
        )
        if parameter.kind in (Kind.TEXT, Kind.SUM) and hint:
            return hint[1]
        by_kind = {
            Kind.NUMBER: "3",
            Kind.DURATION: "ten minutes",
            Kind.WHEN: "tomorrow at 5 pm",
            Kind.SUM: "12 times 7",
            Kind.UNIT: "miles",
            Kind.ADDRESS: "example.com",
            Kind.BOOLEAN: "yes",
        }
        if parameter.kind is Kind.UNIT:
            return "kilometers" if "to" in name.split("_") else "miles"
        return by_kind.get(parameter.kind) or _LIKELY.get(name) or parameter.spoken

    def sentence(self, arguments: dict[str, object]) -> str:
        """The call as a person would have said it, or the tool's description with the arguments."""
        said = set(arguments)
        own = [one for one in self.templates if not one.derived]
        fitting = [one for one in own if set(one.slots) == said]
        if fitting:
            return self.filled(fitting[0], arguments)
        partly = [one for one in own if set(one.slots) <= said]
        best = max(partly, key=lambda one: len(one.slots), default=None)
        rest = {name: value for name, value in arguments.items() if best is None or name not in best.slots}
        told = ", ".join(f"{name.replace('_', ' ')}: {spoken(value)}" for name, value in rest.items())
        lead = self.filled(best, arguments) if best else self.first_sentence.rstrip(".").lower()
        return f"{lead} ({told})" if told else lead


def spoken(value: object) -> str:
    """A value as it is said in a sentence."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        words = [spoken(one) for one in value]
        return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)
    return str(value)


def known(view: ToolView) -> Known:
    """The tool made ready; a template that cannot be read is left out."""
    parameters = {one.name: one for one in parameters_of(view.parameters)}
    own = frozenset(bare(word.text) for word in cut(f"{view.name.replace('_', ' ')} {view.description[:300]}"))
    said = slotted([str(text) for text in (*view.taught, *view.examples)], parameters, own)
    written = [template for text in said for template in templates_of(text, parameters)]
    made = [
        template
        for text in (*_derived(view, parameters), *_turned(written))
        for template in templates_of(text, parameters, derived=True)
    ]
    return Known(view, parameters, tuple(dict.fromkeys([*written, *made])))


def _turned(written: list[Template]) -> list[str]:
    """ "weather in {city}" also stands for "{city} weather", and "put on {query}" for "put {query} on"."""
    found = []
    for template in written:
        if (
            len(template.items) == 3
            and len(template.slots) == 1
            and template.items[1] in PREPOSITIONS
            and isinstance(template.items[0], str)
        ):
            found.append(f"{{{template.slots[0]}}} {template.items[0]}")
            if template.items[1] in ("on", "off"):
                found.append(f"{template.items[0]} {{{template.slots[0]}}} {template.items[1]}")
    return found


def _derived(view: ToolView, parameters: dict[str, Parameter]) -> list[str]:
    """Templates out of the description and the name, such as "add {item} to the shopping list"."""
    sentence = re.split(r"(?<=[.!?])\s", view.description.strip().replace("\n", " "), maxsplit=1)[0][:160].rstrip(".").lower()
    for name in parameters:
        nouns = sorted({name.replace("_", " "), name.split("_")[-1]}, key=len, reverse=True)
        for noun in nouns:
            article = r"\b(?:an?|the|some|one|given)\s+" + re.escape(noun) + r"s?\b(?!\})"
            sentence, count = re.subn(article, f"{{{name}}}", sentence, count=1)
            if count:
                break
    lines = [sentence] if sentence else []
    head = view.name.replace("_", " ")
    required = [one for one in parameters.values() if one.required]
    slotted_head = " ".join(f"{{{word}}}" if word in parameters else word for word in head.split())
    own = [one for one in required if f"{{{one.name}}}" not in slotted_head]
    if slotted_head != head and not head.startswith(tuple(parameters)) and not view.examples:
        lines.append(" ".join([slotted_head, *(f"{_joint(one) or _way(one)} {{{one.name}}}" for one in own)]))
    named = not required and not view.examples and not view.taught  # by nothing but its name and its description
    if len(required) <= 2 and (named or not all(f"{{{one.name}}}" in sentence for one in required)):
        lines.append(" ".join([head, *(f"{_joint(one)} {{{one.name}}}" for one in required)]))
        if len(head.split()) > 1 and required:
            lines.append(" ".join([*head.split()[1:], *(f"{_joint(one)} {{{one.name}}}" for one in required)]))
    return lines


def _way(parameter: Parameter) -> str:
    return {Kind.WHEN: "on", Kind.CHOICE: "to", Kind.NUMBER: "to"}.get(parameter.kind, "")


def _joint(parameter: Parameter) -> str:
    word = parameter.name.split("_")[-1]
    if word in _PLACES:
        return "in"
    if word in _PEOPLE:
        return "to"
    if word in _SAYS:
        return "saying"
    return "for" if parameter.kind is Kind.TEXT and word in ("query", "topic", "keyword", "keywords") else ""


def strength(tool: Known, match: Match) -> float:
    """How much of a sentence a strict fit explains by its own words and typed values, less what texts swallowed."""
    texts = [place for name, place in match.where.items() if tool.parameters[name].kind is Kind.TEXT]
    kinds = tool.parameters
    named = [place for name, place in match.where.items() if kinds[name].kind is Kind.TEXT and not kinds[name].free]
    swallowed = sum(end - start for start, end in named)
    return len(match.template.needs) + 0.9 * (len(match.where) - len(texts)) - 0.04 * swallowed - match.cost
