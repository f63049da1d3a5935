"""A tool as the matcher knows it: its parameters, its templates, and the sentences that stand for it.

Above: choose, fill and questions. Below: templates and parameters. It refuses to know any tool by name. A tool without examples
gets weaker templates, made from its description and its name.
"""

from __future__ import annotations

import re
from functools import cached_property

import msgspec

from etui.agent.embedded.parameters import Kind, Parameter, parameters_of
from etui.agent.embedded.templates import Match, Slot, Template, templates_of
from etui.agent.embedded.words import STOP, bare, cut
from etui.agent.model import ToolView

_MOST_TEXTS = 40
_LIKELY = {
    "city": "Paris", "place": "Paris", "location": "Paris", "room": "kitchen", "item": "milk", "items": "milk and eggs", "product": "milk",
    "recipient": "Anna", "person": "Anna", "to": "Anna", "contact": "Anna", "name": "Anna", "text": "call the dentist", "message": "I am late",
    "body": "I am late", "note": "call the dentist", "content": "call the dentist", "task": "call the dentist", "query": "the keys",
    "song": "a song", "artist": "Queen", "list": "shopping", "path": "notes.txt", "file": "notes.txt", "fact": "my car is blue",
    "country": "France", "language": "French", "topic": "history",
}  # fmt: skip
_PLACES = {"city", "place", "location", "country", "town", "region", "room", "area", "zone"}
_PEOPLE = {"recipient", "person", "contact", "to", "friend"}
_SAYS = {"text", "message", "body", "content"}
_RISKY = {bare(word) for word in (
    "send delete erase wipe pay purchase buy order transfer email sms tweet publish uninstall shutdown reboot format overwrite destroy "
    "drop donate unsubscribe dial trash"
).split()}  # fmt: skip


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
        words = f"{self.name.replace('_', ' ')} {self.view.description[:300]} {' '.join(one.spoken for one in self.parameters.values())}"
        own = {bare(word.text) for word in cut(words) if word.text not in STOP}
        return frozenset(own | {root for template in self.templates for root in template.roots if root})

    @cached_property
    def risky(self) -> bool:
        """True if it sends, deletes or pays, by its name or the first sentence of its description."""
        words = {bare(word.text) for word in cut(f"{self.name.replace('_', ' ')}. {self.first_sentence}")}
        return bool(words & _RISKY)

    def sample(self, template: Template) -> str:
        """A template with something likely in its slots."""
        return self.filled(template, {})

    def filled(self, template: Template, arguments: dict[str, object]) -> str:
        """A template with these arguments in its slots, and something likely where one is missing."""
        parts = []
        for item in template.items:
            if isinstance(item, Slot):
                parts.append(" ".join(spoken(arguments[name]) if name in arguments else self._likely(name) for name in item.names))
            else:
                parts.append(item)
        return " ".join(parts)

    def _likely(self, name: str) -> str:
        parameter = self.parameters.get(name)
        if parameter is None:
            return _LIKELY.get(name, name.replace("_", " "))
        if parameter.choices:
            return str(parameter.choices[0])
        hint = re.search(r"(?:e\.g\.|such as|for example|like)[:,]?\s+['\"]?([\w .*+'-]{2,30}?)['\"]?(?:$|[.,;)]| or )", parameter.description)
        if parameter.kind in (Kind.TEXT, Kind.SUM) and hint:
            return hint[1]
        by_kind = {Kind.NUMBER: "3", Kind.DURATION: "ten minutes", Kind.WHEN: "tomorrow at 5 pm", Kind.SUM: "12 times 7", Kind.UNIT: "miles",
                   Kind.ADDRESS: "example.com", Kind.BOOLEAN: "yes"}  # fmt: skip
        if parameter.kind is Kind.UNIT:
            return "kilometers" if "to" in name.split("_") else "miles"
        return by_kind.get(parameter.kind) or _LIKELY.get(name) or parameter.spoken

    def sentence(self, arguments: dict[str, object]) -> str:
        """The call as a person would have said it, or the tool's description with the arguments."""
        said = set(arguments)
        fitting = [one for one in self.templates if not one.derived and set(one.slots) == said]
        if fitting:
            return self.filled(max(fitting, key=lambda one: len(one.needs)), arguments)
        partly = [one for one in self.templates if not one.derived and set(one.slots) <= said]
        best = max(partly, key=lambda one: (len(one.slots), len(one.needs)), default=None)
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
    written = [template for text in (*view.taught, *view.examples) for template in templates_of(str(text), parameters)]
    made = [template for text in _derived(view, parameters) for template in templates_of(text, parameters, derived=True)]
    return Known(view, parameters, tuple(dict.fromkeys([*written, *made])))


def _derived(view: ToolView, parameters: dict[str, Parameter]) -> list[str]:
    """Templates out of the description and the name, such as "add {item} to the shopping list"."""
    sentence = re.split(r"(?<=[.!?])\s", view.description.strip().replace("\n", " "), maxsplit=1)[0][:160].rstrip(".").lower()
    for name in parameters:
        nouns = sorted({name.replace("_", " "), name.split("_")[-1]}, key=len, reverse=True)
        for noun in nouns:
            sentence, count = re.subn(rf"\b(an?|the|some|one|given)\s+{re.escape(noun)}s?\b(?!})", f"{{{name}}}", sentence, count=1)
            if count:
                break
    lines = [sentence] if sentence else []
    head = view.name.replace("_", " ")
    required = [one for one in parameters.values() if one.required]
    if len(required) <= 2 and not all(f"{{{one.name}}}" in sentence for one in required):
        lines.append(" ".join([head, *(f"{_joint(one)} {{{one.name}}}" for one in required)]))
        if len(head.split()) > 1 and required:
            lines.append(" ".join([*head.split()[1:], *(f"{_joint(one)} {{{one.name}}}" for one in required)]))
    return lines


def _joint(parameter: Parameter) -> str:
    word = parameter.name.split("_")[-1]
    if word in _PLACES:
        return "in"
    if word in _PEOPLE:
        return "to"
    if word in _SAYS:
        return "saying"
    return "for" if parameter.kind is Kind.TEXT and word in ("query", "topic", "keyword", "keywords") else ""


def strength(match: Match) -> float:
    """How much of a sentence a strict fit explains by its own words and typed values, less what texts swallowed."""
    template = match.template
    typed = sum(1 for item in template.items if isinstance(item, Slot)) - sum(1 for _ in _texts(match))
    swallowed = sum(end - start for start, end in _texts(match))
    return len(template.needs - {"{}"}) + 0.9 * typed - 0.04 * swallowed - match.cost


def _texts(match: Match) -> list[tuple[int, int]]:
    return [place for name, place in match.where.items() if isinstance(match.bound[name], str | list)]
