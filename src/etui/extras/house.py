"""A home as its Home Assistant tells it over REST: finding what a person means, its state, turning it on and off, scenes.

Above: `home_assistant` makes it a tool. Below: `asking`. It refuses to know: how a tool is written, and locks, covers and
alarms, which it never moves. Two documented paths are used: `/api/states`, and `/api/services/DOMAIN/SERVICE`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from etui.extras.asking import Service, Trouble

SWITCHED = ("light", "switch", "fan", "input_boolean")
"""What can be turned on and off."""
ACTIONS = ("state", "list", "on", "off", "toggle", "scene")
SERVICES = {"on": "turn_on", "off": "turn_off", "toggle": "toggle"}
"""What does it in Home Assistant."""
ALL = frozenset({"all", "all lights", "every light", "lights", "everything"})
FILLERS = frozenset(["the", "a", "my", "in", "of", "light", "lights", "lamp", "lamps", "scene", "switch", "please"])
"""Words that people say and that tell nothing apart."""
NAMED = 8
"""Names that a sentence lists."""
LISTED = 60
"""Names of a kind that a list has."""


class Unclear(Exception):
    """Nothing was done, since nobody can say what was meant; the text is for the model to say."""


class Entity:
    """One thing that Home Assistant knows."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.id = str(row["entity_id"])
        self.state = str(row.get("state", "unknown"))
        attributes = row.get("attributes")
        self.attributes: Mapping[str, Any] = attributes if isinstance(attributes, dict) else {}

    @property
    def domain(self) -> str:
        """`light`, `scene`, `sensor` and so on."""
        return self.id.partition(".")[0]

    @property
    def name(self) -> str:
        """What people call it."""
        return str(self.attributes.get("friendly_name") or self.id.partition(".")[2].replace("_", " "))

    @property
    def brightness(self) -> int | None:
        """In percent, where it has one."""
        level = self.attributes.get("brightness")
        return round(level * 100 / 255) if isinstance(level, int | float) and not isinstance(level, bool) else None

    def told(self) -> dict[str, object]:
        """Its state as the model is given it."""
        found: dict[str, object] = {"status": "ok", "name": self.name, "entity_id": self.id, "state": self.state}
        spoken = f"{self.name} is {self.state}"
        if unit := self.attributes.get("unit_of_measurement"):
            found["unit"] = str(unit)
            spoken += f" {unit}"
        if self.state == "on" and self.brightness is not None:
            found["brightness"] = self.brightness
            spoken += f" at {self.brightness} percent"
        return {**found, "spoken": f"{spoken}."}


class House:
    """What a person may ask of one Home Assistant."""

    def __init__(self, service: Service, names: Mapping[str, str]) -> None:
        """`names` are the owner's own: what they call a thing, and its entity id."""
        self._service = service
        self._names = names

    async def answer(self, args: Mapping[str, object]) -> dict[str, object]:
        """What comes of one wish; what cannot be done is a payload too. Raises nothing of its own."""
        action = args.get("action")
        try:
            if action == "list":
                return self._listed(await self._entities())
            if action == "state":
                return self._find(_name(args), await self._entities(), ()).told()
            if action == "scene":
                return await self._scene(_name(args))
            if action in SERVICES:
                return await self._switch(str(action), _name(args), _how(str(action), args))
        except Unclear as error:
            return {"error": str(error)}
        except Trouble as trouble:
            return trouble.payload
        return {"error": f"action is required: one of {', '.join(ACTIONS)}"}

    async def _entities(self) -> list[Entity]:
        rows = await self._service.get("/api/states")
        if not isinstance(rows, list):
            raise Trouble("unavailable", f"{self._service.name} gave an answer that makes no sense.")
        return [Entity(row) for row in rows if isinstance(row, dict) and "." in str(row.get("entity_id", ""))]

    async def _scene(self, name: str) -> dict[str, object]:
        scene = self._find(name, await self._entities(), ("scene",))
        await self._service.post("/api/services/scene/turn_on", {"entity_id": scene.id})
        return {"status": "ok", "name": scene.name, "entity_id": scene.id, "spoken": f"{scene.name} is set."}

    async def _switch(self, action: str, name: str, how: dict[str, object]) -> dict[str, object]:
        entities = await self._entities()
        if _plain(name) in ALL:
            return await self._switch_all(action, [one for one in entities if one.domain == "light"], how)
        entity = self._find(name, entities, ("light",) if how else SWITCHED)
        if entity.state == "unavailable":
            raise Trouble("unavailable", f"{entity.name} does not answer Home Assistant.")
        changed = await self._service.post(f"/api/services/{entity.domain}/{SERVICES[action]}", {"entity_id": entity.id, **how})
        now = _state_in(changed, entity.id) or ("" if action == "toggle" else action)
        level = f" at {how['brightness_pct']} percent" if "brightness_pct" in how else ""
        spoken = f"{entity.name} is {now}{level}." if now else f"{entity.name} is switched over."
        return {"status": "ok", "name": entity.name, "entity_id": entity.id, "state": now or "unknown", "spoken": spoken}

    async def _switch_all(self, action: str, lights: list[Entity], how: dict[str, object]) -> dict[str, object]:
        if not lights:
            raise Unclear("There is no light in Home Assistant.")
        await self._service.post(f"/api/services/light/{SERVICES[action]}", {"entity_id": [one.id for one in lights], **how})
        now = "switched over" if action == "toggle" else action
        return {"status": "ok", "lights": len(lights), "spoken": f"All {len(lights)} lights are {now}."}

    def _listed(self, entities: Iterable[Entity]) -> dict[str, object]:
        found: dict[str, list[str]] = {"lights": [], "scenes": [], "others": []}
        for one in entities:
            kind = {"light": "lights", "scene": "scenes"}.get(one.domain, "others")
            if kind != "others" or one.domain in SWITCHED:
                found[kind].append(one.name)
        counts = f"{_count(found['lights'], 'light')} and {_count(found['scenes'], 'scene')}"
        names = {kind: sorted(names)[:LISTED] for kind, names in found.items()}
        return {"status": "ok", **names, "spoken": f"There are {counts}."}

    def _find(self, name: str, entities: list[Entity], domains: tuple[str, ...]) -> Entity:
        """The one thing that is meant. Raises Unclear, naming what there is."""
        can = [one for one in entities if not domains or one.domain in domains]
        named = self._names.get(_plain(name), "")
        for found in (
            [one for one in can if one.id == (named or name.strip().lower())],
            [] if named else [one for one in can if _plain(name) in (_plain(one.name), _plain(one.id.partition(".")[2]))],
            [] if named else _with_words(name, can),
        ):
            if len(lights := [one for one in found if one.domain == "light"]) == 1:
                return lights[0]
            if len(found) == 1:
                return found[0]
            if found:
                raise Unclear(f"Several fit {name!r}: {_names(found)}. Ask which one is meant.")
        if named:
            raise Unclear(f"{name!r} is set to {named!r}, which Home Assistant does not have, or not to be used so.")
        raise Unclear(f"There is nothing called {name!r} for that; there is {_names(can)}.")


def _name(args: Mapping[str, object]) -> str:
    name = args.get("name")
    if not isinstance(name, str) or not name.strip():
        raise Unclear("name is required: say which light, scene or thing")
    return name


def _how(action: str, args: Mapping[str, object]) -> dict[str, object]:
    """How bright and in which colour a light shall be. Raises Unclear."""
    how: dict[str, object] = {}
    if action != "on":
        return how
    if (level := args.get("brightness")) not in (None, ""):
        how["brightness_pct"] = _percent(level)
    if (colour := args.get("colour")) not in (None, ""):
        if not isinstance(colour, str) or not re.fullmatch(r"[A-Za-z]+( [A-Za-z]+)*", colour.strip()):
            raise Unclear("colour must be the English name of a colour, such as red")
        how["color_name"] = colour.lower().replace(" ", "")
    return how


def _percent(level: object) -> int:
    try:
        number = float(str(level).strip().removesuffix("%"))
        if not isinstance(level, bool) and 1 <= number <= 100:
            return round(number)
    except ValueError:
        pass  # said below
    raise Unclear("brightness must be a number of percent from 1 to 100")


def _plain(text: str) -> str:
    """A name in small letters, without what tells nothing."""
    words = re.findall(r"[\w']+", text.lower().replace("_", " "))
    return " ".join(words[1:] if words[:1] == ["the"] else words)


def _with_words(name: str, entities: list[Entity]) -> list[Entity]:
    said = set(_plain(name).split()) - FILLERS
    return [one for one in entities if said and said <= set(_plain(f"{one.name} {one.id.partition('.')[2]}").split())]


def _names(entities: list[Entity]) -> str:
    names = sorted({one.name for one in entities})
    rest = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {rest} more" if rest > 0 else "") if names else "none"


def _count(names: list[str], kind: str) -> str:
    return f"{len(names)} {kind}{'' if len(names) == 1 else 's'}"


def _state_in(changed: object, entity: str) -> str:
    rows = changed if isinstance(changed, list) else []
    return next((str(row.get("state", "")) for row in rows if isinstance(row, dict) and row.get("entity_id") == entity), "")
