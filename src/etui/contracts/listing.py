"""Whether a file lists its tools in TOOLS, or in `get_tools`, and has one `execute` for them: told from its text alone.

Both sides ask it: the contract `sapphire` inside a worker, and the host, which has to know where such a file takes its root.
Above: that contract, `plugins.sources`. Below: `re`. It refuses to know: what is listed.
"""

from __future__ import annotations

import re

_LISTED = re.compile(r"^\ufeff?(?:TOOLS[ \t]*(?::[^=\n]+)?=(?!=)|(?:async[ \t]+)?def get_tools\b)", re.MULTILINE)
_EXECUTES = re.compile(r"^(?:def execute\b|execute[ \t]*=)", re.MULTILINE)


def lists_tools(source: str) -> bool:
    """Whether the text does both at its top level."""
    return _LISTED.search(source) is not None and _EXECUTES.search(source) is not None
