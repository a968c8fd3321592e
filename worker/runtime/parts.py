"""What the runtime is made of: the adapters behind the ports."""

from __future__ import annotations

from dataclasses import dataclass, field

from worker.ports import Clock, Engine, LogReader, PeerTransactions, Publisher, SessionStore, Tracer, WordSource
from worker.runtime.observer import Observer
from worker.runtime.untraced import Untraced

__all__ = ["Parts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """One worker's adapters, and who is told of what it does."""

    source: WordSource
    publisher: Publisher
    store: SessionStore
    reader: LogReader
    peers: PeerTransactions
    engine: Engine
    clock: Clock
    observer: Observer
    tracer: Tracer = field(default_factory=Untraced)
