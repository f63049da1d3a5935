"""`keryx.tools.builtin_common`: the three gates. Above: tool files. Below: `contracts.keryx.trust`.

It refuses to know: the host's gate, which has decided before a tool runs.
"""

from etui.contracts.keryx.trust import pin_gate, possession_gate, read_gate

__all__ = ["pin_gate", "possession_gate", "read_gate"]
