"""The desk at which one call asks: it finds the service by its name, and turns what goes wrong into a sentence.

A desk knows the plugin and its contract from the host's own record of the call, never from what the worker sends.
Above: the families of services, each made here for one call, when it is first asked for. Below: `needs`. It refuses to know:
how requests travel, and what any service does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Concatenate, Generic, TypeVar

import msgspec

from etui.errors import ServiceError, StoreError
from etui.events import Kind
from etui.services.needs import Needs
from etui.session import Session
from etui.tool import Call, Tool

SAPPHIRE = frozenset({"sapphire"})
"""For families that only tools of this contract may ask."""
F = TypeVar("F")
"""The class of a family."""


class Family(msgspec.Struct, Generic[F], frozen=True):
    """Services that belong together: methods of one class, which is made for each call that asks for one of them."""

    make: Callable[[Desk], F]
    services: Mapping[str, Callable[Concatenate[F, ...], Awaitable[object]]]
    """The methods, by the names that go over the wire."""
    only: frozenset[str] | None = None
    """The contracts whose tools may ask for them; None is all."""
    told: bool = False
    """What is given to them is told to others, so the owner's secrets are taken out of it first."""


Offered = Mapping[str, tuple[Family[Any], Callable[..., Awaitable[object]]]]
"""By the name of a service: its family, and the method."""


def table(families: Iterable[Family[Any]]) -> Offered:
    """All their services. Raises ValueError where two have the same name."""
    offered: dict[str, tuple[Family[Any], Callable[..., Awaitable[object]]]] = {}
    for family in families:
        for name, method in family.services.items():
            if name in offered:
                raise ValueError(f"two families have a service {name!r}")
            offered[name] = family, method
    return MappingProxyType(offered)


class Desk:
    """Serves one call of one plugin's tool."""

    def __init__(self, needs: Needs, offered: Offered, tool: Tool, call: Call, session: Session) -> None:
        self.needs = needs
        self.tool = tool
        self.call = call
        self.session = session
        self._offered = offered
        self._made: dict[int, Any] = {}
        """What was asked for so far, by the identity of its family."""

    @property
    def plugin(self) -> str:
        """The name of the plugin that asks."""
        return self.tool.plugin

    async def serve(self, service: str, args: dict[str, object]) -> object:
        """Answer one request. Raises ServiceError, with a sentence for the tool's author, for what cannot be had."""
        if service not in self._offered:
            raise ServiceError(f"There is no service {service!r}.")
        family, method = self._offered[service]
        if family.only is not None and self.tool.contract not in family.only:
            raise ServiceError(
                f"The service {service!r} is for {' and '.join(sorted(family.only))} tools only; "
                f"{self.tool.name!r} is a {self.tool.contract} tool."
            )
        if family.told:
            args = {name: self.needs.hide(self.plugin, value) for name, value in args.items()}
        try:
            return await method(self._of(family), **args)
        except TypeError as error:
            raise ServiceError(f"The service {service!r} was asked with wrong arguments: {error}.") from None
        except (ValueError, OverflowError) as error:
            raise ServiceError(f"The service {service!r} was asked with a wrong value: {error}.") from None
        except StoreError as error:
            raise ServiceError(str(error)) from None

    def tell(self, kind: Kind, data: dict[str, object]) -> None:
        """Tell everybody something about this call."""
        session = self.session
        self.needs.hub.tell(kind, data, session=session.id, chat=session.chat, turn=self.call.turn, call=self.call.id)

    def _of(self, family: Family[F]) -> F:
        made = self._made.get(id(family))
        if made is None:
            made = self._made[id(family)] = family.make(self)
        found: F = made
        return found
