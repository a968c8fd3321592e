"""Spans over the wire: what a collector gets by OTLP, and what becomes of the worker where there is none."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.unit.telemetry.tracing import PATIENT
from tests.workers.speech import check_every_word_once, speech
from tests.workers.twin import World
from worker.app import opened_tracer
from worker.runtime.settings import RuntimeSettings, Traces

CANARY = "zwieselhausen"
SETTINGS = RuntimeSettings(deployment="blue", traces=Traces.OTLP)


class Collector(ThreadingHTTPServer):
    """Keeps what is posted to it, by path."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.posted: list[tuple[str, bytes]] = []

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        compressed = self.headers.get("Content-Encoding") == "gzip"
        assert isinstance(self.server, Collector)
        self.server.posted.append((self.path, gzip.decompress(body) if compressed else body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as http.server has it
        pass


@contextmanager
def collecting() -> Iterator[Collector]:
    with Collector() as collector:
        thread = Thread(target=collector.serve_forever)
        thread.start()
        try:
            yield collector
        finally:
            collector.shutdown()
            thread.join()


def test_spans_arrive_at_the_collector_that_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(rules=PATIENT)
    events = speech(CANARY, 40)
    world.send(*events)
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint)
        with opened_tracer(SETTINGS) as tracer:
            world.worker(tracer=tracer).settle()
    assert {path for path, _ in collector.posted} == {"/v1/traces"}
    body = b"".join(body for _, body in collector.posted)
    assert body.count(b"process asr.words") == len(world.segments())
    assert b"blue-0" in body
    assert CANARY.encode() not in body


def test_a_collector_that_is_away_costs_spans_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(rules=PATIENT)
    events = speech("ann", 40)
    world.send(*events)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    with opened_tracer(SETTINGS) as tracer:
        world.worker(tracer=tracer).settle()
    check_every_word_once(events, world.segments())


def test_opentelemetrys_own_names_win_over_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(rules=PATIENT)
    world.send(*speech("ann", 40))
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint)
        monkeypatch.setenv("OTEL_SERVICE_NAME", "captions-of-the-hall")
        with opened_tracer(SETTINGS) as tracer:
            world.worker(tracer=tracer).settle()
    assert b"captions-of-the-hall" in b"".join(body for _, body in collector.posted)
