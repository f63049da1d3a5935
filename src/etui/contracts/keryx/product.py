"""The importable names: where they lie, and what is said of those that are not offered.

Above: the contract makes the names importable before it reads a file. Below: Python's import system.
It refuses to know: what the names do.
"""

from __future__ import annotations

from pathlib import Path

from etui.contracts.lent import lend

NAMES = str(Path(__file__).with_name("names"))
OWN = "keryx.plugins", "keryx.integrations"
"""Where Keryx keeps its own plugins and what they are made of."""
HINT = "Take the file out of the folder, or write a tool of your own that asks the service; `etui plugins list` has Etui's own."


def offer_names() -> None:
    """Make `keryx` importable in this process, ahead of an installed one; what is not there says so."""
    lend(NAMES, "keryx", sentence)


def sentence(name: str) -> str:
    """What is said of a name that is not here."""
    if name.startswith(OWN):
        return f"{name} belongs to Keryx's own plugins (Slack, e-mail, billing, cluster), which are not offered here"
    return f"{name} belongs to Keryx itself and is not offered here"


def hint(error: BaseException | None, work: str = "") -> str:
    """What to do, where an import failed for one of those names, or a file touched what it may not; `work` is the folder."""
    if isinstance(error, PermissionError) and error.filename is not None:
        return f"A tool file may read what lies beside it and write in the working folder, {work}: a bare name lies there."
    if not isinstance(error, ImportError):
        return ""
    if (error.name or "").split(".")[0] == "jarvis":
        return "Keryx was called jarvis once: write `keryx` in its place."
    return HINT if (error.name or "").startswith("keryx.") else ""
