"""The runtime's settings: a frozen dataclass that ``tree`` fills from variables, a file and flags.

Bounds and descriptions are beside the fields; ``docs/settings.md`` is generated from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from caesura.schemas.segments import NumberForm
from caesura.schemas.wire import WireFormat
from caesura.worker.core.overlays.rules import OverlayRules
from caesura.worker.core.overlays.spellings import Spellings
from caesura.worker.core.partition.partitioning import crc32_partition, murmur2_partition
from caesura.worker.core.rendering.cleaning import Cleaning, CleaningLevel, phrases
from caesura.worker.runtime.settings.routes import Route
from caesura.worker.runtime.settings.topic_settings import TopicSettings

__all__ = ["Partitioner", "Route", "RuntimeSettings", "StartAt", "Traces"]

_ENGINE_BESIDE_MIB = 1024
"""Memory of the engine's process besides its KV caches: models, arenas and stacks."""


class StartAt(StrEnum):
    """Where to begin in a partition that has no committed offset."""

    EARLIEST = "earliest"
    LATEST = "latest"


class Partitioner(StrEnum):
    """How the producers map a session to a partition; ``unchecked`` trusts them."""

    MURMUR2 = "murmur2"
    CRC32 = "crc32"
    UNCHECKED = "unchecked"

    def place(self, key: bytes, partitions: int) -> int:
        """Return the partition of a key; if unchecked, the one that Java producers choose."""
        return (crc32_partition if self is Partitioner.CRC32 else murmur2_partition)(key, partitions)


class Traces(StrEnum):
    """Where spans go; the values are those of ``OTEL_TRACES_EXPORTER``."""

    NONE = "none"
    OTLP = "otlp"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeSettings(TopicSettings):
    """The loop's own settings. Raises ValueError if fields contradict each other.

    ordinal: Number of this worker in the deployment. A restart under the same number ends the open transaction of the
        former process at once.
    own_fillers: Words and phrases that ``fluent`` leaves out whatever their label, unless a route's ``cleaning`` is
        ``off``. Compared without case and marks. Sessions may add more (``own_fillers`` of their options).
    kept_phrases: Words and phrases that no rendering leaves out, whatever their label. Sessions may add more.
    spellings: How words and phrases are written in ``marked`` and ``fluent``, each ``said=written`` (``post
        gres=PostgreSQL``). Compared without case, marks and spaces. Sessions may add more (``spellings`` of their
        options).
    french_spaces: Write a narrow no-break space (U+202F) before a French question mark in ``marked`` and ``fluent``, as
        in France. Quebec writes none.
    start_at: Where to begin in a partition that has no committed offset.
    adopt_foreign_offsets: Start with empty state at an offset that was set from outside, instead of parking the
        partition.
    partitioner: How producers choose a session's partition: ``murmur2`` (Java's default, librdkafka's
        ``murmur2_random``), ``crc32`` (librdkafka's default), or ``unchecked`` (events are accepted in any partition).
    commit_interval_ms: Longest time between checkpoints. Output becomes readable at the end of a checkpoint, so this is
        part of the delay. A worker with little to do commits sooner, at most four times as often.
    save_interval_ms: Shortest time between two saves of a partition in Redis. After a crash, the words of that time are
        labelled again. A stop and a hand-over save at once.
    max_poll_records: Records taken into one checkpoint.
    max_batch_sessions: Sessions labelled in one inference.
    max_batch_words: Words of all buffers in a batch.
    gather_ms: How long words may wait for words of other sessions, to be labelled with them. A small batch costs twice
        as much a word. Words are labelled before every checkpoint, so values above ``commit_interval_ms`` change
        nothing. 0: label at every turn of the loop.
    engine_memory_mib: Memory of the engine's KV caches. A session that does not fit is computed again at each step.
    engine_process_mib: Memory limit of the engine's process, which is restarted if it takes more. 0:
        ``engine_memory_mib`` plus 1,024.
    inference_deadline_ms: If an inference takes longer, the engine's process is ended and restarted. ``/live`` allows
        20 s more.
    takeover_after_ms: How long a claim waits for another worker's open transaction before it ends that transaction.
    claim_timeout_s: Time-out of one attempt to claim a partition.
    commit_timeout_s: Time-out of one attempt to commit.
    rebuild_stall_s: How long a rebuild waits for the log to go on (for an open transaction to end, say) before it
        begins again.
    drain_deadline_s: Time that a stop may take to label and publish the words that were read. The next owner reads the
        rest again.
    max_skew_ms: How far a record's time stamp may lie ahead of the worker's clock before it is cut back. A producer's
        fast clock can bring silences forward by as much.
    replication_ms: How long a stamped record of the input topic may wait for its replicas before it can be read.
        Silences are published this much later. 0 for a topic without replicas.
    dead_letter_limit: Malformed or poison events that a partition may have within ``dead_letter_window_s``. Beyond them
        the partition is parked.
    dead_letter_window_s: Window of ``dead_letter_limit``.
    max_dead_letter_bytes: Longest value of a dead letter. A longer value is cut; its length and SHA-256 are in the
        headers. At most what the dead-letter topic takes.
    tentative_interval_ms: Shortest time between two records of a session in ``tentative_topic``.
    wire_format: How segments and translation routes are written: ``msgpack``, or ``json`` for readers such as Kafka
        Connect, kcat or a UI (larger by a third). Events are read in either.
    models_dir: Folder of the models. Empty: the models shipped with the package.
    active_models: Models for new buffers of their language, by id or ``id@version``, instead of those that their
        manifests make active. A running buffer stays with the model that labelled it.
    http_host: Address of metrics and health.
    http_port: Port of metrics and health; 0: none.
    traces: Where OpenTelemetry spans go. ``otlp`` needs the extra ``traces``; OpenTelemetry's own variables
        (``OTEL_...``) name the collector.
    """

    ordinal: Annotated[int, Meta(ge=0, le=9999, extra={"change": "at a restart of this worker"})] = 0
    own_fillers: tuple[str, ...] = ()
    kept_phrases: tuple[str, ...] = ()
    spellings: Mapping[str, str] = field(default_factory=dict)
    french_spaces: bool = False
    start_at: Annotated[StartAt, Meta(extra={"change": "no effect once the partition has a committed offset"})] = (
        StartAt.EARLIEST
    )
    adopt_foreign_offsets: Annotated[bool, Meta(extra={"change": "at a restart"})] = False
    partitioner: Annotated[Partitioner, Meta(extra={"change": "with all producers at once"})] = Partitioner.MURMUR2
    commit_interval_ms: Annotated[int, Meta(ge=10, le=60_000)] = 100
    save_interval_ms: Annotated[int, Meta(ge=0, le=60_000)] = 500
    max_poll_records: Annotated[int, Meta(ge=1, le=100_000)] = 2000
    max_batch_sessions: Annotated[int, Meta(ge=1, le=1024)] = 64
    max_batch_words: Annotated[int, Meta(ge=1, le=1_000_000)] = 4096
    gather_ms: Annotated[int, Meta(ge=0, le=1000)] = 100
    engine_memory_mib: Annotated[
        int, Meta(ge=0, le=1_000_000, extra={"change": "at a roll-out, with the memory that the process may take"})
    ] = 512
    engine_process_mib: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    inference_deadline_ms: Annotated[int, Meta(ge=100, le=600_000)] = 10_000
    takeover_after_ms: Annotated[int, Meta(ge=1000, le=3_600_000)] = 15_000
    claim_timeout_s: Annotated[float, Meta(ge=0.1, le=60)] = 2.0
    commit_timeout_s: Annotated[float, Meta(ge=0.5, le=60)] = 10.0
    rebuild_stall_s: Annotated[float, Meta(ge=0.5, le=60)] = 5.0
    drain_deadline_s: Annotated[float, Meta(ge=0.5, le=600)] = 20.0
    max_skew_ms: Annotated[int, Meta(ge=0, le=600_000)] = 0
    replication_ms: Annotated[int, Meta(ge=0, le=10_000)] = 50
    dead_letter_limit: Annotated[int, Meta(ge=1, le=1_000_000)] = 1000
    dead_letter_window_s: Annotated[float, Meta(ge=1, le=86_400)] = 60.0
    max_dead_letter_bytes: Annotated[int, Meta(ge=1024, le=100_000_000)] = 1_000_000
    tentative_interval_ms: Annotated[int, Meta(ge=300, le=60_000)] = 300
    wire_format: Annotated[WireFormat, Meta(extra={"change": "at a roll-out, once all consumers read the new one"})] = (
        WireFormat.MSGPACK
    )
    models_dir: str = ""
    active_models: Annotated[tuple[str, ...], Meta(extra={"change": "at a roll-out; workers may differ"})] = ()
    http_host: Annotated[str, Meta(extra={"change": "at a restart"})] = "127.0.0.1"
    http_port: Annotated[int, Meta(ge=0, le=65_535, extra={"change": "at a restart"})] = 9464
    traces: Annotated[Traces, Meta(extra={"change": "at a restart"})] = Traces.NONE

    def cleaning(self, level: CleaningLevel = CleaningLevel.FULL) -> Cleaning:
        """Return what the fluent rendering leaves out at a level, including the operator's own words."""
        return Cleaning(level=level, fillers=phrases(self.own_fillers), kept=phrases(self.kept_phrases))

    def overlays(self, numbers: NumberForm = NumberForm.WORDS) -> OverlayRules:
        """Return the overlay rules of a rendering, including the operator's spellings."""
        return OverlayRules(numbers=numbers, spellings=Spellings(self.spellings), french_spaces=self.french_spaces)

    @property
    def engine_limit_mib(self) -> int:
        """The limit of the engine process's data memory, in MiB."""
        return self.engine_process_mib or self.engine_memory_mib + _ENGINE_BESIDE_MIB

    @property
    def group(self) -> str:
        """The consumer group's id."""
        return self.deployment

    @property
    def transactional_id(self) -> str:
        """The producer's transactional id: deployment and ordinal."""
        return f"{self.deployment}-{self.ordinal}"
