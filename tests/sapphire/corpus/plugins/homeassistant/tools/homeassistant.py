# plugins/homeassistant/tools/homeassistant.py
import base64
import fnmatch
import json
import logging
from pathlib import Path

import requests

logger = logging.getLogger(__name__)

ENABLED = True
EMOJI = '🏠'

PROJECT_ROOT = Path(__file__).parent.parent.parent.parent
DEFAULTS = {"url": "http://homeassistant.local:8123", "blacklist": "cover.*\nlock.*"}

AVAILABLE_FUNCTIONS = [
    'ha_list_scenes', 'ha_activate_scene', 'ha_list_areas', 'ha_list_devices', 'ha_get_state', 'ha_area_light',
    'ha_set_light', 'ha_set_switch', 'ha_set_climate', 'ha_camera', 'ha_notify', 'ha_run_script', 'ha_history',
]


def _tool(name, description, required=(), **properties):
    return {
        "type": "function", "is_local": "endpoint", "network": True,
        "function": {"name": name, "description": description,
                     "parameters": {"type": "object", "properties": properties, "required": list(required)}}}


_S, _N, _B = {"type": "string"}, {"type": "number"}, {"type": "boolean"}
TOOLS = [
    _tool('ha_list_scenes', 'Scenes and scripts.'),
    _tool('ha_activate_scene', 'Start a scene.', ['scene'], scene=_S),
    _tool('ha_list_areas', 'Rooms of the house.'),
    _tool('ha_list_devices', 'Devices of a room.', ['area'], area=_S),
    _tool('ha_get_state', 'State of one device.', ['entity'], entity=_S),
    _tool('ha_area_light', 'All lights of a room.', ['area'], area=_S, brightness=_N),
    _tool('ha_set_light', 'One light.', ['entity'], entity=_S, brightness=_N, rgb={"type": "array", "items": {"type": "integer"}, "minItems": 3, "maxItems": 3}),
    _tool('ha_set_switch', 'Turn a switch on or off.', ['entity', 'on'], entity=_S, on=_B),
    _tool('ha_set_climate', 'Set the temperature.', ['entity', 'temperature'], entity=_S, temperature=_N),
    _tool('ha_camera', 'See a camera picture.', ['entity'], entity=_S),
    _tool('ha_notify', 'Send a notification to the phone.', ['message'], message=_S, title=_S),
    _tool('ha_run_script', 'Run a script.', ['script'], script=_S),
    _tool('ha_history', 'What a device did today.', ['entity'], entity=_S),
]


def _load_settings():
    settings = DEFAULTS.copy()
    path = PROJECT_ROOT / 'user' / 'webui' / 'plugins' / 'homeassistant.json'
    try:
        settings.update(json.loads(path.read_text(encoding='utf-8')))
    except (OSError, ValueError):
        pass
    return settings


def _token():
    from core.credentials_manager import credentials
    return credentials.get_ha_token()


def _request(method, path, settings, token, **kw):
    r = requests.request(method, settings['url'].rstrip('/') + path, timeout=10,
                         headers={'Authorization': f'Bearer {token}'}, **kw)
    r.raise_for_status()
    return r


def _service(domain, service, settings, token, **data):
    _request('POST', f'/api/services/{domain}/{service}', settings, token, json=data)
    return f"Done: {domain}.{service}", True


def execute(function_name, arguments, config):
    token = _token()
    if not token:
        return "No HA token configured. Add one in Settings > Plugins > Home Assistant.", False
    settings = _load_settings()
    hidden = [p.strip() for p in settings['blacklist'].splitlines() if p.strip()]
    entity = arguments.get('entity', '')
    if any(fnmatch.fnmatch(entity, p) for p in hidden):
        return f"Not found: {entity}", False
    try:
        if function_name in ('ha_list_scenes', 'ha_list_devices'):
            states = _request('GET', '/api/states', settings, token).json()
            names = [s['entity_id'] for s in states if not any(fnmatch.fnmatch(s['entity_id'], p) for p in hidden)]
            return '\n'.join(n for n in names if function_name == 'ha_list_devices' or n.startswith(('scene.', 'script.'))), True
        if function_name == 'ha_list_areas':
            text = _request('POST', '/api/template', settings, token, json={'template': '{{ areas() | map("area_name") | list | tojson }}'}).text
            return '\n'.join(json.loads(text)), True
        if function_name in ('ha_get_state', 'ha_history'):
            return _request('GET', f'/api/states/{entity}', settings, token).text, True
        if function_name == 'ha_camera':
            raw = _request('GET', f'/api/camera_proxy/{entity}', settings, token).content
            return {"text": f"Camera {entity}", "images": [{"data": base64.b64encode(raw).decode(), "media_type": "image/jpeg"}]}, True
        if function_name == 'ha_activate_scene':
            return _service('scene', 'turn_on', settings, token, entity_id=arguments['scene'])
        if function_name == 'ha_run_script':
            return _service('script', 'turn_on', settings, token, entity_id=arguments['script'])
        if function_name == 'ha_area_light':
            return _service('light', 'turn_on', settings, token, area_id=arguments['area'], brightness_pct=arguments.get('brightness', 100))
        if function_name == 'ha_set_light':
            return _service('light', 'turn_on', settings, token, entity_id=entity, brightness_pct=arguments.get('brightness', 100))
        if function_name == 'ha_set_switch':
            return _service('switch', 'turn_on' if arguments['on'] else 'turn_off', settings, token, entity_id=entity)
        if function_name == 'ha_set_climate':
            return _service('climate', 'set_temperature', settings, token, entity_id=entity, temperature=arguments['temperature'])
        if function_name == 'ha_notify':
            return _service('notify', 'notify', settings, token, message=arguments['message'])
    except requests.RequestException as e:
        return f"Home Assistant error: {e}", False
    return f"Unknown function: {function_name}", False
