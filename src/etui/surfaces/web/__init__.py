"""The console: a person's page in the browser, and the door through which the terminal reaches a running host.

Above: `host` and the terminal start it with `serve`. Below: Starlette, uvicorn and a Session for each thing that is called.
It refuses to know: how a tool runs, what a rule says, and how anything is kept.
"""

from __future__ import annotations

from etui.surfaces.web.app import make_app
from etui.surfaces.web.serve import serve

__all__ = ["make_app", "serve"]
