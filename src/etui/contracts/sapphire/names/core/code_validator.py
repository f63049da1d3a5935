"""Whether code that an assistant wrote passes, at one of three levels."""

from etui.contracts.validating import validate_code

__all__ = ["validate_code"]
