"""`keryx.trust`: what a session has proved. Above: tool files. Below: `contracts.keryx.trust`. It refuses to know: the PIN."""

from etui.contracts.keryx.trust import TrustLevel

__all__ = ["TrustLevel"]
