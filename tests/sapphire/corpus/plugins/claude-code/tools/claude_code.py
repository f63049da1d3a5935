import logging
import shutil

logger = logging.getLogger(__name__)

ENABLED = True
EMOJI = '👩‍💻'
AVAILABLE_FUNCTIONS = ['claude_code', 'claude_code_status']

TOOLS = [
    {"type": "function", "is_local": False, "network": True, "function": {
        "name": "claude_code", "description": "Give Claude Code a mission in a workspace of its own.",
        "parameters": {"type": "object", "properties": {"mission": {"type": "string"}, "project": {"type": "string"}}, "required": ["mission"]}}},
    {"type": "function", "is_local": True, "function": {
        "name": "claude_code_status", "description": "What became of the last mission.",
        "parameters": {"type": "object", "properties": {}, "required": []}}},
]


def _settings():
    from core.plugin_loader import plugin_loader
    return plugin_loader.get_plugin_settings('claude-code') or {}


def execute(function_name, arguments, config):
    from core.api_fastapi import get_system
    system = get_system()
    if not hasattr(system, 'agent_manager'):
        return "Agent system not initialized. Restart may be needed.", False
    if function_name == 'claude_code':
        if not shutil.which('claude'):
            return "The claude command is not installed.", False
        from core.event_bus import Events, publish
        publish(Events.AGENT_SPAWNED, {'workspace': _settings().get('workspace')})
        return system.agent_manager.spawn('claude_code', arguments), True
    return str(system.agent_manager.check_all()), True
