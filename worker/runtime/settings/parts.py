"""What the runtime is made of: the adapters behind the ports."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, field

from caesura.worker.ports.clock import Clock
from caesura.worker.ports.engine import Engine
from caesura.worker.ports.log_reader import LogReader
from caesura.worker.ports.observer import Observer
from caesura.worker.ports.peer_transactions import PeerTransactions
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.session_store import SessionStore
from caesura.worker.ports.tentative_publisher import TentativePublisher
from caesura.worker.ports.tracer import Tracer
from caesura.worker.ports.word_source import WordSource
from caesura.worker.runtime.settings.untraced import Untraced


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeAdapters:
    """One worker's adapters, and its observer.

    tentative: None where no unfrozen words are published. saving: runs writes to the store beside the loop.
    asking: runs the probe's three questions beside it, so that a silent broker or Redis holds up no words.
    """

    source: WordSource
    publisher: Publisher
    store: SessionStore
    reader: LogReader
    peers: PeerTransactions
    engine: Engine
    clock: Clock
    observer: Observer
    saving: Executor
    asking: Executor
    tentative: TentativePublisher | None = None
    tracer: Tracer = field(default_factory=Untraced)
