"""Plugin store."""
import logging
from typing import Any, Dict, Tuple

import requests

logger = logging.getLogger(__name__)

ENABLED = True
EMOJI = "🛍️"
AVAILABLE_FUNCTIONS = ["store_browse", "store_install"]

TOOLS = [
    {"type": "function", "is_local": False, "network": True, "function": {
        "name": "store_browse",
        "description": "Search the plugin store.",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": []}}},
    {"type": "function", "is_local": False, "network": True, "function": {
        "name": "store_install",
        "description": "Install a plugin of the store.",
        "parameters": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}},
]


def _store(settings: Dict[str, Any]) -> str:
    return (settings.get("store_url") or "https://store.example.net").rstrip("/")


def execute(function_name: str, arguments: Dict[str, Any], config: Any, plugin_settings: Dict[str, Any]) -> Tuple[str, bool]:
    try:
        if function_name == "store_browse":
            r = requests.get(f"{_store(plugin_settings)}/api/plugins", params={"q": arguments.get("query", "")}, timeout=8)
            r.raise_for_status()
            return "\n".join(f"- {p['name']}: {p['description']}" for p in r.json()["plugins"]) or "Nothing found.", True
        if function_name == "store_install":
            from core.plugin_loader import plugin_loader
            info = plugin_loader.get_plugin_info(arguments["name"])
            if info and info.get("loaded"):
                return f"{arguments['name']} is installed already.", True
            return "Installing is up to the user: Settings > Plugins > Store.", False
    except requests.RequestException:
        return "Could not connect to the Sapphire Store. Check network.", False
    return f"Unknown function: {function_name}", False
