"""What a running tool may ask of the host: its own state, settings and reminders, a question to the person, a line to be said.

One desk serves one call. Each family of services has a module of its own here and a line in the table below; one with `only`
is there for the tools of these contracts alone. Above: `host` hands desks to jobs. Below: `store`, `cards`, `session`. It
refuses to know: how requests travel.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from etui.run import Serve
from etui.services import (
    active,
    addresses,
    asking,
    audit,
    chat_rows,
    chats,
    credentials,
    functions,
    images,
    making,
    plugins,
    registering,
    reminders,
    saying,
    settings,
    state,
    tasks,
    telling,
    work,
)
from etui.services.desk import Desk, Family, table
from etui.services.needs import Needs
from etui.session import Session
from etui.tool import Call, Tool

FAMILIES: tuple[Family[Any], ...] = (
    state.FAMILY,
    settings.FAMILY,
    reminders.FAMILY,
    asking.FAMILY,
    chats.FAMILY,
    audit.FAMILY,
    work.FAMILY,
    saying.FAMILY,
    functions.FAMILY,
    credentials.FAMILY,
    images.FAMILY,
    chat_rows.FAMILY,
    active.FAMILY,
    addresses.FAMILY,
    tasks.FAMILY,
    telling.FAMILY,
    registering.FAMILY,
    plugins.FAMILY,
    making.FAMILY,
)
"""Every family there is."""


class Services:
    """The services of one host: a closed set, by the names that go over the wire."""

    def __init__(self, needs: Needs, families: Iterable[Family[Any]] = FAMILIES) -> None:
        self._needs = needs
        self._offered = table(families)

    def desk(self, tool: Tool, call: Call, session: Session) -> Serve:
        """What serves this one call."""
        return Desk(self._needs, self._offered, tool, call, session).serve
