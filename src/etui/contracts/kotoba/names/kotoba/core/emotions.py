"""`kotoba.core.emotions`: the faces that there are. Above: tool files. It refuses to know: when one is shown."""

from __future__ import annotations

from etui.tool import FACES

VALID_EMOTIONS: frozenset[str] = frozenset(FACES)
"""What `EXPRESSIONS` may name."""
