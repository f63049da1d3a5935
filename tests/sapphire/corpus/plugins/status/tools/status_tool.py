"""What am I running on?"""

import platform

ENABLED = True
EMOJI = '📊'

TOOLS = [{
    "type": "function",
    "is_local": True,
    "function": {
        "name": "get_self_info",
        "description": "Your own status: host, chat, voice, scheduled tasks.",
        "parameters": {"type": "object", "properties": {}, "required": []}
    }
}]


def _collect():
    info = {'host': platform.system(), 'python': platform.python_version()}
    try:
        from core.api_fastapi import get_system
        system = get_system()
    except Exception:
        return info
    if hasattr(system, 'llm_chat'):
        try:
            info['chat'] = system.llm_chat.get_active_chat()
        except Exception as e:
            info['chat'] = f'unknown ({e})'
    if hasattr(system, 'tts') and system.tts:
        info['voice'] = getattr(system.tts, 'voice_name', '?')
    else:
        info['voice'] = 'off'
    if hasattr(system, 'continuity_scheduler') and system.continuity_scheduler:
        try:
            info['tasks'] = len(system.continuity_scheduler.list_tasks())
        except Exception:
            info['tasks'] = 'unknown'
    info['agents'] = 'on' if hasattr(system, 'agent_manager') else 'off'
    return info


def execute(function_name, arguments, config):
    if function_name == 'get_self_info':
        return '\n'.join(f"{k}: {v}" for k, v in _collect().items()), True
    return f"Unknown function: {function_name}", False
