# plugins/toolmaker/tools/toolmaker.py
"""Save, read and load tools that the AI wrote."""

import json
import logging
import re
import shutil
from pathlib import Path

from core.code_validator import validate_code

logger = logging.getLogger(__name__)

ENABLED = True
EMOJI = '🛠️'
AVAILABLE_FUNCTIONS = ['tool_save', 'tool_read', 'tool_load']

PROJECT_ROOT = Path(__file__).parent.parent.parent.parent
USER_PLUGINS = PROJECT_ROOT / 'user' / 'plugins'
RESERVED = {'web', 'meta', 'memory', 'core', 'system', 'clock', 'docs', 'network', 'ai'}

TOOLS = [
    {"type": "function", "is_local": True, "function": {
        "name": "tool_save", "description": "Save a tool file and check it.",
        "parameters": {"type": "object", "properties": {"name": {"type": "string"}, "code": {"type": "string"}}, "required": ["name", "code"]}}},
    {"type": "function", "is_local": True, "function": {
        "name": "tool_read", "description": "Read a tool file you wrote, or list them.",
        "parameters": {"type": "object", "properties": {"name": {"type": "string"}}}}},
    {"type": "function", "is_local": True, "function": {
        "name": "tool_load", "description": "Load what you saved.",
        "parameters": {"type": "object", "properties": {}}}},
]


def _level():
    from core.plugin_loader import plugin_loader
    return (plugin_loader.get_plugin_settings('toolmaker') or {}).get('validation', 'strict')


def _save(name, code):
    name = (name or '').lower().removesuffix('.py').replace('-', '_')
    if not re.fullmatch(r'[a-z0-9_]+', name) or name in RESERVED:
        return f"FAILED: Invalid or reserved name '{name}'.", False
    level = _level()
    ok, error = validate_code(code, level)
    if not ok:
        return f"FAILED: Validation failed ({level} mode): {error}", False
    folder = USER_PLUGINS / name
    try:
        (folder / 'tools').mkdir(parents=True, exist_ok=True)
        (folder / 'tools' / f'{name}.py').write_text(code, encoding='utf-8')
        (folder / 'plugin.json').write_text(json.dumps({
            "name": name, "version": "1.0.0", "description": name, "author": "ai-toolmaker", "default_enabled": True,
            "capabilities": {"tools": [f"tools/{name}.py"]}}, indent=2), encoding='utf-8')
    except OSError as e:
        shutil.rmtree(folder, ignore_errors=True)
        return f"FAILED: {e}", False
    return f"Plugin '{name}' saved and validated. Call tool_load to use it.", True


def execute(function_name, arguments, config):
    if function_name == 'tool_save':
        return _save(arguments.get('name'), arguments.get('code', ''))
    if function_name == 'tool_read':
        name = arguments.get('name')
        if not name:
            return ', '.join(sorted(p.name for p in USER_PLUGINS.glob('*'))) or '(none)', True
        path = USER_PLUGINS / name / 'tools' / f'{name}.py'
        return (path.read_text(encoding='utf-8'), True) if path.exists() else (f"No tool '{name}'.", False)
    if function_name == 'tool_load':
        from core.event_bus import Events, publish
        from core.plugin_loader import plugin_loader
        found = plugin_loader.rescan()
        publish(Events.TOOLSET_CHANGED, {})
        return f"Loaded: {', '.join(found['added']) or 'nothing new'}", True
    return f"Unknown function: {function_name}", False
