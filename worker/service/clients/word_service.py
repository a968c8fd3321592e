"""``caesura serve``: a model, a thread that decodes, and a WebSocket for clients. No broker, no store."""

from __future__ import annotations

import asyncio
import importlib.metadata
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import msgspec
from starlette.routing import Route

from caesura.worker.core.language.rules import primary_language
from caesura.worker.core.language.segmentation import segmenters
from caesura.worker.core.language.served_languages import unserved
from caesura.worker.core.overlays.redaction import Redacted
from caesura.worker.core.session.batching import BatchLimits
from caesura.worker.ports.clock import Clock
from caesura.worker.ports.engine import Engine
from caesura.worker.ports.observer import Observer
from caesura.worker.service.clients.decoding_thread import DecodingThread
from caesura.worker.service.clients.posted_sessions import PostedSessions
from caesura.worker.service.clients.reading import FrameReader, RefusedMessageError, frame_reader
from caesura.worker.service.clients.reading_thread import ReadingThread
from caesura.worker.service.clients.session_pool import SessionPool
from caesura.worker.service.clients.word_connection import Client, WordConnection
from caesura.worker.service.server.client_socket import ClientSocket
from caesura.worker.service.server.connections import Connections
from caesura.worker.service.server.lifecycle import Hosted, StopTaker, host
from caesura.worker.service.server.messages import PROTOCOL_VERSION, About, Limits, Opening, Ready, RefusalReason
from caesura.worker.service.server.rendered import served_texts
from caesura.worker.service.server.server import Listener
from caesura.worker.service.server.telemetry import ServiceTelemetry
from caesura.worker.settings.tree import LocalSettings

_SWITCH_S = 0.001
"""So long a thread that reads or decodes may keep the event loop waiting for the interpreter; Python's own is 5 ms."""

_STATE = "in this process's memory: sessions end with their connection, and nothing is kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class WordService:
    """The service, its engine warm. ``run`` blocks until it is told to stop."""

    settings: LocalSettings
    engine: Engine
    clock: Clock

    def run(self, listener: Listener, *, stop: StopTaker | None = None) -> int:
        """Serve until stopped; return the exit status."""
        sys.setswitchinterval(_SWITCH_S)
        with ReadingThread() as reading:
            return asyncio.run(self._run(listener, stop, reading))

    async def _run(self, listener: Listener, stop: StopTaker | None, reading: ReadingThread) -> int:
        decoding: list[DecodingThread] = []
        telemetry = ServiceTelemetry()

        def source(fault: Callable[[Exception], None]) -> DecodingThread:
            decoding.append(DecodingThread(self._pool(telemetry.observer), clock=self.clock, on_fault=fault))
            return decoding[0]

        def reader_of(opening: Opening) -> FrameReader:
            if Redacted.NAMES in opening.redact and not self.settings.worker.redacted_names:
                detail = "redact: the operator's list of names (worker.redacted_names) is empty"
                raise RefusedMessageError(RefusalReason.BAD_OPENING, detail)
            most = settings.max_sessions_per_connection
            return frame_reader(opening, telemetry.reader_failed, max_sessions=most)

        def connection(number: int, client: Client, opening: Opening, reader: FrameReader) -> WordConnection:
            return WordConnection(
                number,
                client,
                opening,
                reader=reader,
                reading=reading,
                decoding=decoding[0],
                settings=settings,
                texts=texts.redacting(redaction(frozenset(settings.redact).union(opening.redact))),
            )

        async def connect(number: int, client: ClientSocket, opening: Opening) -> WordConnection:
            reader = reader_of(opening)
            client.send_queue.put(self._ready(opening))
            return connection(number, client, opening, reader)

        def routes(connections: Connections) -> list[Route]:
            return PostedSessions(settings, connections, telemetry.observer, reader_of, connection).routes()

        settings, texts = self.settings.serve, served_texts(self.settings)
        redaction = lru_cache(maxsize=None)(self.settings.worker.redaction)  # of a set of kinds; there are few
        hosted = Hosted(
            settings=settings,
            about=self._about(),
            path="/v1/words",
            source=source,
            connect=connect,
            routes=routes,
            telemetry=telemetry,
        )
        return await host(hosted, listener, stop)

    def _pool(self, observer: Observer) -> SessionPool:
        worker = self.settings.worker
        return SessionPool(
            self.engine,
            clock=self.clock,
            rules=self.settings.decoding,
            segmenters=segmenters,
            limits=BatchLimits(max_sessions=worker.max_batch_sessions, max_words=worker.max_batch_words),
            observer=observer,
        )

    def _ready(self, opening: Opening) -> Ready:
        settings = self.settings.serve
        limits = Limits(
            message_bytes=settings.max_message_bytes,
            words_per_second=settings.max_words_per_second,
            sessions=settings.max_sessions_per_connection,
        )
        models = self._models()
        notice = unserved(opening.lang, models) or msgspec.UNSET
        return Ready(version=PROTOCOL_VERSION, models=models, limits=limits, state=_STATE, notice=notice)

    def _models(self) -> dict[str, str]:
        return {primary_language(model.language): model.name for model in self.engine.models if model.active}

    def _about(self) -> About:
        return About(
            shows="words",
            version=importlib.metadata.version("caesura"),
            models=self._models(),
            source="this service: sessions live in its memory alone",
            token_wanted=bool(self.settings.serve.token),
        )
