import sys


def _state():
    return sys.modules.get("_sapphire_webcam_state")


def pending(body=None, settings=None, **kwargs):
    state = _state()
    if state is None:
        return {"pending": []}
    with state.lock:
        return {"pending": list(state.requests)}


def submit(body=None, settings=None, **kwargs):
    state = _state()
    with state.lock:
        request = state.requests.get((body or {}).get("id"))
    if request is None:
        return {"ok": False, "error": "no such request"}
    request["data"] = body["data"]
    request["event"].set()
    return {"ok": True}
