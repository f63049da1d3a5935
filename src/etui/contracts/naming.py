"""Names that travel: one that every provider takes, for a tool whose own is none, and a path as text.

Above: the contracts, and the host. It refuses to know: clashes.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from pathlib import Path

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}\Z")


def alias(name: str) -> str:
    """A name that every provider takes, the same at each start; the name itself where it is one."""
    if _NAME.match(name):
        return name
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    safe = re.sub(r"[^A-Za-z0-9_]+", "_", ascii_only).rstrip("_")
    lost = not safe.strip("_") or (not name.isascii() and not ascii_only.isidentifier())
    if not safe or safe[0].isdigit():
        safe = "_" + safe
    if lost or len(safe) > 64:
        safe = f"{safe[:55].rstrip('_') or 'tool'}_{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"
    return safe


def spelled(path: Path | str) -> str:
    """A path as text that travels: what of it is no UTF-8 stands as numbers."""
    return str(path).encode("utf-8", "backslashreplace").decode()
