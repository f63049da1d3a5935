"""What the gate decides, and what it may look at: the nouns between the session, which asks, and the gate, which answers.

Above: `session`, `gate`. Below: the settings and the nouns. It refuses to know: the rules.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from etui.selection.chosen import EVERYTHING, Chosen
from etui.settings import Settings

PIN = "pin"
NO_PIN = "no_pin"
"""The gate's rules for what waits for the owner's PIN; they are asked before anything else of a call is looked at."""
NOT_CHOSEN = "not_chosen"
"""The gate's rule for tools that are not among those of the chat."""
FULL, POSSESSION, NONE = "full", "possession", "none"
"""What a session has proved: it is the owner's; it is a call that was placed to a number of theirs; nothing."""

STRANGERS = frozenset({"phone"})
"""Channels on which anybody may be, before they have given the PIN."""


class Decision(StrEnum):
    """What a verdict says."""

    ALLOW = "allow"
    ASK = "ask"
    REFUSE = "refuse"


class Verdict(msgspec.Struct, frozen=True):
    """The gate's answer."""

    decision: Decision
    rule: str = ""
    """Name of the rule that decided; empty when every rule let it pass."""
    reason: str = ""
    """One sentence for the model and the person."""


class Turn(msgspec.Struct):
    """What the gate's loop guard counts in one turn."""

    calls: int = 0
    failures: int = 0


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule may look at, besides the call and the tool."""

    settings: Settings
    channel: str
    trust: str
    mode: str
    private: bool
    attended: bool
    off: frozenset[str]
    """Names of tools and toolsets that are switched off."""
    toolsets: frozenset[str] | None
    """The only toolsets of this session; None is all."""
    withheld: frozenset[str] = frozenset()
    """Names of tools that are kept back from this session."""
    activated: frozenset[str] = frozenset()
    """Families of MCP servers that were asked for in this job."""
    enforced: bool
    """The kernel holds this tool to what it declares."""
    remembered: bool
    """A person said "always" to this, for this code."""
    turn: Turn
    pin_set: bool = True
    """The owner has set a PIN."""
    chosen: Chosen = EVERYTHING
    """Which tools and accounts were chosen for this chat."""
