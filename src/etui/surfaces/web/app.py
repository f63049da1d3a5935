"""The console's application: the page, its static files, signing in, and `/api`, all behind the guard.

Above: `serve`. Below: every other module of this package. It refuses to know: sockets, and how the host was made.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from etui.errors import EtuiError, StoreError
from etui.surfaces.web import api
from etui.surfaces.web.guard import Guard, cookie_name, seal
from etui.surfaces.web.live import Live
from etui.surfaces.web.needs import Desk, House, desk
from etui.surfaces.web.replies import SENTENCES, refusal
from etui.surfaces.web.stream import Streams
from etui.surfaces.web.tokens import LIFE, Tokens

STATIC = Path(__file__).parent / "static"
USED = (
    "This link was used already, or is from an earlier start. Links work once: `etui serve` gives a new one, and so does the "
    "About page of a browser that is signed in."
)


def make_app(host: House, *, tokens: Tokens, port: int, names: Iterable[str] = ()) -> Starlette:
    """The application for this host; `names` are the further names by which browsers may call it."""
    live, streams = Live(), Streams()
    events = host.hub.listen(limit=100_000)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        following = asyncio.create_task(live.follow(events))
        try:
            yield
        finally:
            streams.close()
            events.close()
            await following

    app = Starlette(
        routes=[
            Route("/", page),
            Route("/favicon.ico", icon),
            Route("/login/{token}", login),
            *api.routes(),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[Middleware(Guard, tokens=tokens, keys=host.keys, port=port, names=[*host.settings.now.hosts, *names])],
        exception_handlers={HTTPException: on_refusal, EtuiError: on_mistake, Exception: on_defect},
        lifespan=lifespan,
    )
    app.state.desk = Desk(host, tokens, live, port)
    app.state.streams = streams
    return app


async def page(request: Request) -> Response:
    """The one page."""
    return FileResponse(STATIC / "index.html", headers={"cache-control": "no-cache"})


async def icon(request: Request) -> Response:
    """The picture in the browser's tab."""
    return FileResponse(STATIC / "icon.svg", headers={"cache-control": "max-age=86400"})


async def login(request: Request) -> Response:
    """Trade a one-time token for a session's cookie; a look ahead by the browser does not use it up."""
    at = desk(request)
    if request.method != "GET" or "prefetch" in request.headers.get("sec-purpose", request.headers.get("purpose", "")):
        return Response(status_code=204)
    key = at.tokens.redeem(request.path_params["token"])
    if key is None and not at.tokens.is_session(request.cookies.get(cookie_name(at.port), "")):
        return refusal(403, USED, request.url.path)
    answer = RedirectResponse("/", 303)
    if key is not None:
        answer.set_cookie(cookie_name(at.port), key, max_age=int(LIFE), httponly=True, samesite="strict")
    return answer


async def on_refusal(request: Request, error: Exception) -> Response:
    """An answer that is no success, in a sentence."""
    assert isinstance(error, HTTPException)
    known = SENTENCES.get(error.status_code, "").format(path=request.url.path, method=request.method)
    sentence = known if known and error.detail in ("Not Found", "Method Not Allowed") else error.detail
    answer = refusal(error.status_code, sentence, request.url.path)
    answer.headers.update(error.headers or {})
    return answer


async def on_mistake(request: Request, error: Exception) -> Response:
    """Something that Etui refuses on purpose; its text is the sentence."""
    return refusal(503 if isinstance(error, StoreError) else 400, str(error), request.url.path)


async def on_defect(request: Request, error: Exception) -> Response:
    """Something that nobody meant; the server's log has the rest."""
    answer = refusal(500, "Something went wrong inside Etui; its log says more.", request.url.path)
    seal(answer.headers)
    return answer
