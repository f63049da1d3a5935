# Take a picture with the camera of the user's browser.
# The page polls /api/plugin/webcam/pending and posts the frame to /api/plugin/webcam/submit.

import sys
import threading
import types

_KEY = "_sapphire_webcam_state"
if _KEY not in sys.modules:
    _m = types.ModuleType(_KEY)
    _m.requests = {}
    _m.lock = threading.Lock()
    sys.modules[_KEY] = _m
_state = sys.modules[_KEY]

TOOLS = [
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "capture_webcam",
            "description": "See what the user's webcam sees right now.",
            "parameters": {"type": "object", "properties": {}, "required": []}
        }
    }
]


def execute(function_name, arguments, config):
    if function_name != "capture_webcam":
        return f"Unknown function: {function_name}", False
    request = {"event": threading.Event(), "data": None}
    with _state.lock:
        key = f"r{len(_state.requests) + 1}"
        _state.requests[key] = request
    try:
        if not request["event"].wait(15):
            return "Webcam capture timed out. Is the page open and the camera allowed?", False
        return {"text": "Webcam photo", "images": [{"data": request["data"], "media_type": "image/jpeg"}]}, True
    finally:
        with _state.lock:
            _state.requests.pop(key, None)
