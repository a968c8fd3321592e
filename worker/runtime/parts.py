"""What the runtime is made of: the adapters behind the ports."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, field

from worker.ports.clock import Clock
from worker.ports.engine import Engine
from worker.ports.log_reader import LogReader
from worker.ports.observer import Observer
from worker.ports.peer_transactions import PeerTransactions
from worker.ports.publisher import Publisher
from worker.ports.session_store import SessionStore
from worker.ports.tentative_publisher import TentativePublisher
from worker.ports.tracer import Tracer
from worker.ports.word_source import WordSource
from worker.runtime.inline_executor import InlineExecutor
from worker.runtime.untraced import Untraced

__all__ = ["RuntimeParts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeParts:
    """One worker's adapters, and who is told of what it does.

    tentative: None where no unfrozen words are published. saving: runs saves to the store, beside the loop.
    """

    source: WordSource
    publisher: Publisher
    store: SessionStore
    reader: LogReader
    peers: PeerTransactions
    engine: Engine
    clock: Clock
    observer: Observer
    tentative: TentativePublisher | None = None
    tracer: Tracer = field(default_factory=Untraced)
    saving: Executor = field(default_factory=InlineExecutor)
