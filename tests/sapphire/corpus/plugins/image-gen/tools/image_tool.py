import json
import logging
from pathlib import Path

import requests

logger = logging.getLogger(__name__)

ENABLED = True
EMOJI = '🖌️'
AVAILABLE_FUNCTIONS = ['generate_scene_image']
SETTINGS_PATH = Path(__file__).parent.parent.parent.parent / 'user/webui/plugins/image-gen.json'

TOOLS = [{
    "type": "function",
    "is_local": "endpoint",
    "network": True,
    "function": {
        "name": "generate_scene_image",
        "description": "Draw what is happening now, in about 20 words.",
        "parameters": {"type": "object", "properties": {"scene_description": {"type": "string"}}, "required": ["scene_description"]}
    }
}]


def execute(function_name, arguments, config):
    if function_name != 'generate_scene_image':
        return f"Unknown function: {function_name}", False
    url = 'http://localhost:5153'
    try:
        url = json.loads(SETTINGS_PATH.read_text()).get('api_url', url)
    except Exception:
        pass
    try:
        r = requests.post(f'{url}/generate', json={'prompt': arguments.get('scene_description', '')}, timeout=20)
        r.raise_for_status()
        return f"<<IMG::{r.json()['image_id']}>>", True
    except requests.RequestException as e:
        return f"Image server not reachable: {e}", False
