# functions/meta.py
"""
The AI looks at and changes itself: prompt, pieces, voice, name. All of it goes
through our own REST interface, so it is what the settings page would do.
"""

import logging

import requests
import urllib3

import config

urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
logger = logging.getLogger(__name__)

ENABLED = True
EMOJI = '🪞'
AVAILABLE_FUNCTIONS = [
    'view_prompt', 'switch_prompt', 'reset_chat', 'edit_prompt', 'set_piece', 'remove_piece', 'create_piece',
    'list_pieces', 'change_username', 'set_tts_voice', 'list_tools',
]

MODE_FILTER = {
    'monolith': ['edit_prompt'],
    'assembled': ['set_piece', 'remove_piece', 'create_piece', 'list_pieces'],
}


def _t(tool_name, text, **properties):
    return {"type": "function", "is_local": True, "function": {
        "name": tool_name, "description": text,
        "parameters": {"type": "object",
                       "properties": {k: {"type": "string", "description": v} for k, v in properties.items()},
                       "required": list(properties)}}}


TOOLS = [
    _t('view_prompt', 'Read your own system prompt.'),
    _t('switch_prompt', 'Switch to another saved prompt.', name='Name of the prompt'),
    _t('reset_chat', 'Clear this chat.', reason='Why'),
    _t('edit_prompt', 'Rewrite your system prompt.', content='The new prompt'),
    _t('set_piece', 'Activate a prompt piece.', component='persona, scenario, emotions...', key='Name of the piece'),
    _t('remove_piece', 'Deactivate a prompt piece.', component='emotions or extras', key='Name of the piece'),
    _t('create_piece', 'Write a new prompt piece.', component='Kind', key='Name', value='Text'),
    _t('list_pieces', 'List the pieces of one kind.', component='Kind'),
    _t('change_username', 'Change what you call the user.', name='New name'),
    _t('set_tts_voice', 'Change your voice.', voice='Name of the voice'),
    _t('list_tools', 'Which tools you have now.', scope='enabled or all'),
]


def _api(method, path, **body):
    key = ''
    try:
        from core.setup import get_password_hash
        key = get_password_hash() or ''
    except ImportError:
        pass
    r = requests.request(method, f"{config.API_URL}{path}", json=body or None, headers={'X-API-Key': key}, timeout=10, verify=False)
    r.raise_for_status()
    return r.json()


def execute(function_name, arguments, config):
    try:
        if function_name == 'list_tools':
            data = _api('GET', '/api/functions' if arguments.get('scope') == 'all' else '/api/toolsets/current')
            return str(data), True
        if function_name == 'view_prompt':
            from core import prompts
            return prompts.get_current_prompt()['content'], True
        if function_name == 'switch_prompt':
            _api('POST', f"/api/prompts/{arguments['name']}/load")
            return f"Switched to '{arguments['name']}'.", True
        if function_name == 'reset_chat':
            _api('DELETE', '/api/history/messages', count=-1)
            return "Chat cleared.", True
        if function_name == 'edit_prompt':
            _api('PUT', '/api/prompts/current', content=arguments['content'])
            return "Prompt changed.", True
        if function_name in ('set_piece', 'remove_piece', 'create_piece', 'list_pieces'):
            from core.prompt_state import prompt_state
            return getattr(prompt_state, function_name)(**arguments), True
        if function_name == 'change_username':
            _api('PUT', '/api/settings/DEFAULT_USERNAME', value=arguments['name'])
            return f"Username is now {arguments['name']}.", True
        if function_name == 'set_tts_voice':
            names = [v['name'] for v in _api('GET', '/api/tts/voices')['voices']]
            if arguments.get('voice') not in names:
                return f"No such voice. Choose from: {', '.join(names)}", False
            active = _api('GET', '/api/chats/active')['active_chat']
            _api('PUT', f"/api/chats/{active}/settings", voice=arguments['voice'])
            return f"Voice is now {arguments['voice']}.", True
        return f"Unknown function: {function_name}", False
    except Exception as e:
        logger.error(f"meta {function_name}: {e}")
        return f"Could not do that: {e}", False
