"""A tool of the contract `keryx` that also says which sentences mean it, as Etui's own tools do; Keryx's have no word for that.

Above: the factories. Below: the contract `keryx`, which hands the sentences on. It refuses to know: who reads them.
"""

from __future__ import annotations

from dataclasses import dataclass

from etui.contracts.keryx.custom import CustomTool


@dataclass(frozen=True)
class Exemplified(CustomTool):
    """The same tool, with examples."""

    examples: tuple[str, ...] = ()
    """Sentences that mean it, with `{argument}` where a value stands."""
