"""`kotoba.core.path_security`: paths held inside the working folder. Above: tool files. It refuses to know: how (`jail`)."""

from __future__ import annotations

from etui.contracts.kotoba.jail import PathSecurityError, validate_within_dir

__all__ = ["PathSecurityError", "validate_within_dir"]
