"""``caesura serve``: a model, a thread that decodes, and a WebSocket for whoever speaks. No broker, no store."""

from __future__ import annotations

import asyncio
import importlib.metadata
import os
from collections.abc import Callable
from dataclasses import dataclass

from worker.app import ExitStatus
from worker.core.batching import BatchLimits
from worker.core.rules import primary_language
from worker.core.segmentation import segmenters
from worker.ports.clock import Clock
from worker.ports.engine import Engine
from worker.service.connections import Connections
from worker.service.decoding_thread import DecodingThread
from worker.service.messages import PROTOCOL_VERSION, About, Limits, Opening, Ready
from worker.service.server import Listener, serve_until_stopped
from worker.service.session_pool import SessionPool
from worker.service.socket import ClientSocket
from worker.service.web_app import web_app
from worker.service.word_connection import WordConnection
from worker.settings.tree import LocalSettings

__all__ = ["WordService"]

_STATE = "in this process's memory: sessions end with their connection, and nothing is kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class WordService:
    """The service, its engine warm. ``run`` blocks until it is told to stop."""

    settings: LocalSettings
    engine: Engine
    clock: Clock

    def run(self, listener: Listener, *, stop: Callable[[Callable[[], None]], None] | None = None) -> int:
        """Serve until stopped; return the exit status. stop: is given a function that stops it, from any thread."""
        return asyncio.run(self._run(listener, stop))

    async def _run(self, listener: Listener, stop: Callable[[Callable[[], None]], None] | None) -> int:
        loop, stopping = asyncio.get_running_loop(), asyncio.Event()
        faults: list[Exception] = []

        def stop_from_anywhere() -> None:
            loop.call_soon_threadsafe(stopping.set)

        def fault(error: Exception) -> None:
            faults.append(error)
            stop_from_anywhere()

        if stop is not None:
            stop(stop_from_anywhere)
        decoding = DecodingThread(self._pool(), clock=self.clock, on_fault=fault)
        connections = Connections(self.settings.serve, lambda *given: self._connection(decoding, *given))
        app = web_app(
            self.settings.serve,
            about=self._about(),
            path="/v1/words",
            serve=connections.serve,
            ready=lambda: not stopping.is_set(),
        )
        decoding.start()
        try:
            await serve_until_stopped(app, listener, self.settings.serve, drain=connections.drain, stop=stopping)
        finally:
            decoding.stop()
        if faults:
            raise faults[0]
        return ExitStatus.STOPPED

    def _pool(self) -> SessionPool:
        worker = self.settings.worker
        return SessionPool(
            self.engine,
            clock=self.clock,
            rules=self.settings.decoding,
            segmenters=segmenters,
            limits=BatchLimits(max_sessions=worker.max_batch_sessions, max_padded_words=worker.max_batch_words),
            inference_deadline_s=worker.inference_deadline_ms / 1000,
            on_overrun=lambda: os._exit(ExitStatus.INFERENCE_HUNG),
        )

    async def _connection(
        self, decoding: DecodingThread, number: int, client: ClientSocket, opening: Opening
    ) -> WordConnection:
        settings = self.settings.serve
        limits = Limits(
            message_bytes=settings.max_message_bytes,
            words_per_second=settings.max_words_per_second,
            sessions=settings.max_sessions_per_connection,
        )
        ready = Ready(version=PROTOCOL_VERSION, models=self._models(), limits=limits, state=_STATE)
        client.outbox.put(ready)
        return WordConnection(number, client, opening, decoding=decoding, settings=settings)

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
