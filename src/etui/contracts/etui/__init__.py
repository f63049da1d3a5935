"""The contract `etui`: typed functions marked with `@tool`.

`authoring` and `context` are what authors import; `contract` reads and calls their files, inside workers; `functions` turns one
function into a tool, for whoever has one; `grants` is safe for the host. Above: `run`. Below: the nouns.
It refuses to know: the host.
"""

from __future__ import annotations

from etui.contracts import Contract

CONTRACT: Contract
"""What `contracts.find("etui")` gives."""


def __getattr__(name: str) -> object:
    """`CONTRACT`, made when it is first asked for, so that `import etui` does not pay for what only workers need."""
    if name != "CONTRACT":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from etui.contracts.etui.contract import EtuiContract

    globals()["CONTRACT"] = EtuiContract()
    return globals()["CONTRACT"]
