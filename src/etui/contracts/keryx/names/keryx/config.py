"""`keryx.config`: where the data lies and whether there is a PIN. Above: tool files. Below: `contracts.keryx.settings`.

It refuses to know: secrets.
"""

from etui.contracts.keryx.custom import LOADING_SETTINGS
from etui.contracts.keryx.settings import Settings

__all__ = ["Settings", "load_settings"]


def load_settings() -> Settings:
    """The settings of whoever is loading this file; of the host, where nobody is."""
    return LOADING_SETTINGS.get() or Settings()
