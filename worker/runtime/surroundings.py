"""What the loaded partitions of a worker share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from worker.ports.clock import Clock
from worker.ports.observer import Observer
from worker.ports.tracer import Tracer
from worker.ports.word_source import WordSource
from worker.runtime.output_records import OutputRecords
from worker.runtime.record_decoding import DeadLetters
from worker.runtime.settings import RuntimeSettings

__all__ = ["Surroundings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What all loaded partitions share.

    partitions: the input's partition count. forget: tells the engine that a session is gone.
    """

    settings: RuntimeSettings
    source: WordSource
    clock: Clock
    observer: Observer
    tracer: Tracer
    publishing: OutputRecords
    dead_letters: DeadLetters
    partitions: int
    forget: Callable[[str], None]
