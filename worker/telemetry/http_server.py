"""Serves ``/metrics`` for Prometheus, and ``/started``, ``/live``, ``/ready`` for the orchestrator.

From threads of its own. The three answer 200 or 503 with ``{"live": false, "reasons": [...]}``, and mean what
``worker.telemetry.health`` says.
"""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from worker.errors import FatalError
from worker.telemetry.health import Health

__all__ = ["TelemetryServer"]

_REQUEST_TIMEOUT_S = 5.0
_JSON = "application/json"


class TelemetryServer:
    """An HTTP server on ``host:port``; port 0 takes a free one, which ``port`` then names.

    host: a name, an IPv4 or an IPv6 address; ``::`` is every address, of IPv4 too where the system allows it.
    """

    def __init__(self, host: str, port: int, *, registry: CollectorRegistry, health: Health) -> None:
        host = host.strip("[]")
        try:
            self._server = _Server((host, port), registry, health)
        except OSError as error:
            shown = f"[{host}]" if ":" in host else host
            where = f"{shown}:{port} (worker.http_host, worker.http_port)"
            raise FatalError(f"metrics and health cannot be served on {where}: {error.strerror}") from error
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, name="telemetry", daemon=True)

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], registry: CollectorRegistry, health: Health) -> None:
        self.registry = registry
        self.health = health
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        if self.address_family == socket.AF_INET6:
            with suppress(OSError):  # a system of IPv6 alone
                self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _REQUEST_TIMEOUT_S
    server_version = "caesura"
    sys_version = ""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/metrics":
            encode, content_type = choose_encoder(self.headers.get("Accept", ""))
            self._answer(HTTPStatus.OK, content_type, encode(self.server.registry))
        elif path == "/started":
            self._answer_health("started", self.server.health.why_not_started())
        elif path == "/live":
            self._answer_health("live", self.server.health.why_not_alive())
        elif path == "/ready":
            self._answer_health("ready", self.server.health.why_not_ready())
        else:
            self._answer(HTTPStatus.NOT_FOUND, _JSON, b'{"paths": ["/metrics", "/started", "/live", "/ready"]}')

    def _answer_health(self, name: str, reasons: tuple[str, ...]) -> None:
        status = HTTPStatus.SERVICE_UNAVAILABLE if reasons else HTTPStatus.OK
        self._answer(status, _JSON, json.dumps({name: not reasons, "reasons": reasons}).encode())

    def _answer(self, status: HTTPStatus, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the standard library's name
        """Say nothing: a probe a second is no news."""
