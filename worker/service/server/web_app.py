"""The addresses of a service, and what a browser may do with them: the page, ``/v1/about``, one WebSocket, health."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from caesura.worker.service.server.auth import FOREIGN_HOST, admits_host, admits_token
from caesura.worker.service.server.messages import About, Opening
from caesura.worker.settings.serving import ServeSettings

_INLINE = re.compile(r"<(?P<kind>script|style)>(?P<text>.*?)</(?P=kind)>", re.DOTALL)


def page() -> str:
    """Return the live page, one file."""
    return (Path(__file__).parents[1] / "page" / "live.html").read_text(encoding="utf-8")


def policy_of(html: str) -> str:
    """Return the page's content security policy: its own script and style by their hash, and nothing else.

    It requires trusted types and allows no policy for them, so the browser refuses to make markup of text.
    """
    hashes: dict[str, list[str]] = {"script": [], "style": []}
    for match in _INLINE.finditer(html):
        digest = base64.b64encode(hashlib.sha256(match["text"].encode()).digest()).decode()
        hashes[match["kind"]].append(f"'sha256-{digest}'")
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(hashes['script'])}",
            f"style-src {' '.join(hashes['style'])}",
            "connect-src 'self'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def web_app(
    settings: ServeSettings,
    *,
    about: About,
    path: str,
    serve: Callable[[WebSocket], Awaitable[None]],
    ready: Callable[[], bool],
    metrics: CollectorRegistry,
    routes: Sequence[Route] = (),
) -> Starlette:
    """Return the application. path: of the WebSocket that ``serve`` serves. ready: whether clients may come.

    metrics: for who may reach the service, and shows its token where it has one. routes: what else there is.
    """
    html = page()
    headers = {
        "Content-Security-Policy": policy_of(html),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
        "Cache-Control": "no-store",
    }

    async def show_page(request: Request) -> Response:
        if not admits_host(request.headers, settings):
            return Response(FOREIGN_HOST + "\n", 403)
        return Response(html, media_type="text/html", headers=headers)

    async def tell_about(request: Request) -> Response:
        if not admits_host(request.headers, settings):
            return Response(FOREIGN_HOST + "\n", 403)
        return Response(msgspec.json.encode(about), media_type="application/json", headers=headers)

    async def live(_: Request) -> Response:
        return JSONResponse({"live": True})

    async def tell_ready(_: Request) -> Response:
        return JSONResponse({"ready": ready()}, 200 if ready() else 503)

    async def tell_metrics(request: Request) -> Response:
        if not admits_host(request.headers, settings) or not admits_token(request.headers, Opening(), settings):
            return Response("show the token, as `Authorization: Bearer ...`\n", 403)
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        return Response(encode(metrics), headers={"Content-Type": content_type})

    return Starlette(
        routes=[
            Route("/", show_page),
            Route("/v1/about", tell_about),
            Route("/metrics", tell_metrics),
            Route("/live", live),
            Route("/ready", tell_ready),
            WebSocketRoute(path, serve),
            *routes,
        ]
    )
