"""Files for the person, named by one marker line."""

from etui.contracts.sapphire.attachments import marker, safe_url, strip

__all__ = ["marker", "safe_url", "strip"]
