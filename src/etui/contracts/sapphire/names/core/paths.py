"""Where things lie, from the root that the host gives. What is shipped lies where the root keeps it: newer or older layout."""

from etui.contracts.sapphire import current

PROJECT_ROOT = current.root()
_NEWER = PROJECT_ROOT / "core" / "plugins"
SYSTEM_PLUGINS_DIR = _NEWER if _NEWER.is_dir() else PROJECT_ROOT / "plugins"
USER_PLUGINS_DIR = PROJECT_ROOT / "user" / "plugins"
PLUGIN_STATE_DIR = PROJECT_ROOT / "user" / "plugin_state"
