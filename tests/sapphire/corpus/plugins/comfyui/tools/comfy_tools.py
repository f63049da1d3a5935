"""ComfyUI: run one of the user's workflows and show the picture."""

import base64
import json
import logging
import time
import uuid
from pathlib import Path

logger = logging.getLogger(__name__)

ENABLED = True
EMOJI = '🎨'

PROJECT_ROOT = Path(__file__).parent.parent.parent.parent
WORKFLOWS = PROJECT_ROOT / "user" / "comfyui" / "workflows"

TOOLS = [
    {
        "type": "function",
        "is_local": "endpoint",
        "network": True,
        "function": {
            "name": "comfy_generate",
            "description": "Generate an image with a ComfyUI workflow.",
            "parameters": {
                "type": "object",
                "properties": {
                    "prompt": {"type": "string", "description": "What to draw"},
                    "workflow": {"type": "string", "description": "Which workflow (see comfy_list_workflows)"}
                },
                "required": ["prompt"]
            }
        }
    },
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "comfy_list_workflows",
            "description": "Which workflows there are.",
            "parameters": {"type": "object", "properties": {}, "required": []}
        }
    },
]


def _workflows():
    if not WORKFLOWS.exists():
        return []
    return sorted(WORKFLOWS.glob('*.json'))


def _list():
    found = _workflows()
    if not found:
        return "No workflows installed. Put ComfyUI API-format .json files in user/comfyui/workflows/", True
    return "Workflows:\n" + '\n'.join(f"- {p.stem}" for p in found), True


def _generate(prompt, name, settings):
    import requests
    found = {p.stem: p for p in _workflows()}
    if not found:
        return _list()[0], False
    path = found.get(name) or next(iter(found.values()))
    graph = json.loads(path.read_text(encoding='utf-8').replace('%PROMPT%', json.dumps(prompt)[1:-1]))
    server = (settings.get('server') or 'http://127.0.0.1:8188').rstrip('/')
    try:
        started = requests.post(f"{server}/prompt", json={"prompt": graph, "client_id": uuid.uuid4().hex}, timeout=15).json()
        end = time.time() + float(settings.get('max_wait') or 300)
        while time.time() < end:
            history = requests.get(f"{server}/history/{started['prompt_id']}", timeout=15).json().get(started['prompt_id'])
            if history:
                break
            time.sleep(1)
        else:
            return "ComfyUI took too long.", False
        for node in history['outputs'].values():
            for image in node.get('images', []):
                raw = requests.get(f"{server}/view", params=image, timeout=60).content
                return {"text": f"Generated with {path.stem}", "images": [
                    {"data": base64.b64encode(raw).decode(), "media_type": "image/png"}]}, True
    except requests.RequestException as e:
        return f"ComfyUI not reachable at {server}: {e}", False
    return "The workflow gave no image.", False


def execute(function_name: str, arguments: dict, config_obj, plugin_settings: dict, credentials):
    settings = plugin_settings or {}
    if function_name == 'comfy_list_workflows':
        return _list()
    if function_name == 'comfy_generate':
        return _generate(arguments.get('prompt', ''), arguments.get('workflow', ''), settings)
    return f"Unknown function: {function_name}", False
