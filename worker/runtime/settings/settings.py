"""What the runtime can be told: a frozen dataclass, filled by ``tree`` from variables, file, flags.

Bounds and descriptions stand beside the fields; ``docs/settings.md`` is generated from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta

from caesura.schemas.segments import NumberForm
from caesura.schemas.wire import WireFormat
from caesura.worker.core.overlays.rules import OverlayRules
from caesura.worker.core.overlays.spellings import Spellings
from caesura.worker.core.rendering.cleaning import Cleaning, CleaningLevel, phrases
from caesura.worker.runtime.settings.choices import Partitioner, StartAt, Traces
from caesura.worker.runtime.settings.routes import Route
from caesura.worker.runtime.settings.topic_settings import TopicSettings

__all__ = ["Partitioner", "Route", "RuntimeSettings", "StartAt", "Traces"]

_ENGINE_BESIDE_MIB = 1024
"""What the engine's process may take beside the rows that it keeps: models, arenas and stacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeSettings(TopicSettings):
    """The loop's own settings. Raises ValueError where fields contradict each other."""

    ordinal: Annotated[
        int,
        Meta(
            ge=0,
            le=9999,
            description="Number of this worker within the deployment; a restart under the same number ends at once "
            "what the former process left open.",
            extra={"change": "at a restart of this worker"},
        ),
    ] = 0
    own_fillers: Annotated[
        tuple[str, ...],
        Meta(
            description="Words and phrases that `fluent` leaves out, whatever their label, unless a route's `cleaning` "
            "is `off`; compared without case and marks. Sessions may name more (`own_fillers` of their options).",
            extra={"change": "at a roll-out"},
        ),
    ] = ()
    kept_phrases: Annotated[
        tuple[str, ...],
        Meta(
            description="Words and phrases that no rendering leaves out, whatever their label. Sessions may name more.",
            extra={"change": "at a roll-out"},
        ),
    ] = ()
    spellings: Annotated[
        Mapping[str, str],
        Meta(
            description="How words and phrases are written, each `said=written` (`post gres=PostgreSQL`), in `marked` "
            "and `fluent`; compared without case, marks and spaces. Sessions may name more (`spellings` of their "
            "options).",
            extra={"change": "at a roll-out"},
        ),
    ] = field(default_factory=dict)
    french_spaces: Annotated[
        bool,
        Meta(
            description="Write a narrow no-break space (U+202F) before a French question mark in `marked` and "
            "`fluent`, as France does and Quebec does not.",
            extra={"change": "at a roll-out"},
        ),
    ] = False
    start_at: Annotated[
        StartAt,
        Meta(
            description="Where a partition that was never committed is read from.",
            extra={"change": "means nothing once a partition was committed"},
        ),
    ] = StartAt.EARLIEST
    adopt_foreign_offsets: Annotated[
        bool,
        Meta(
            description="Start from empty state where somebody else set the offset, instead of parking the partition.",
            extra={"change": "at a restart"},
        ),
    ] = False
    partitioner: Annotated[
        Partitioner,
        Meta(
            description="How producers choose a session's partition: `murmur2` (Java's default, librdkafka's "
            "`murmur2_random`), `crc32` (librdkafka's default), or `unchecked`.",
            extra={"change": "with all producers at once"},
        ),
    ] = Partitioner.MURMUR2
    commit_interval_ms: Annotated[
        int,
        Meta(
            ge=10,
            le=60_000,
            description="Time between checkpoints; output becomes readable at a checkpoint's end, so it is part of "
            "the delay.",
            extra={"change": "at a roll-out"},
        ),
    ] = 100
    max_poll_records: Annotated[
        int,
        Meta(ge=1, le=100_000, description="Records taken into one checkpoint.", extra={"change": "at a roll-out"}),
    ] = 2000
    max_batch_sessions: Annotated[
        int,
        Meta(ge=1, le=1024, description="Sessions labelled in one inference.", extra={"change": "at a roll-out"}),
    ] = 64
    max_batch_words: Annotated[
        int,
        Meta(ge=1, le=1_000_000, description="Words of all buffers in a batch.", extra={"change": "at a roll-out"}),
    ] = 4096
    gather_ms: Annotated[
        int,
        Meta(
            ge=0,
            le=1000,
            description="Longest that words wait for those of other sessions, to be labelled with them: a small batch "
            "costs twice as much a word. Labels are made before every checkpoint, so from `commit_interval_ms` on it "
            "changes nothing; 0 labels at every turn.",
            extra={"change": "at a roll-out"},
        ),
    ] = 100
    engine_memory_mib: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            description="Memory for what the engine keeps of sessions; what is beyond is computed anew at each step.",
            extra={"change": "at a roll-out, with the memory that the process may take"},
        ),
    ] = 512
    engine_process_mib: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            description="Most memory for data of the engine's process, which is started anew where it takes more; "
            "0: `engine_memory_mib` and 1,024.",
            extra={"change": "at a roll-out"},
        ),
    ] = 0
    inference_deadline_ms: Annotated[
        int,
        Meta(
            ge=100,
            le=600_000,
            description="An inference that stands still for longer ends the engine's process, and another one is "
            "started. `/live` allows 20 s more.",
            extra={"change": "at a roll-out"},
        ),
    ] = 10_000
    takeover_after_ms: Annotated[
        int,
        Meta(
            ge=1000,
            le=3_600_000,
            description="How long a claim waits for another's open transaction before it ends it.",
            extra={"change": "at a roll-out"},
        ),
    ] = 15_000
    claim_timeout_s: Annotated[
        float,
        Meta(ge=0.1, le=60, description="One attempt at claiming a partition.", extra={"change": "at a roll-out"}),
    ] = 2.0
    commit_timeout_s: Annotated[
        float,
        Meta(ge=0.5, le=60, description="One attempt at committing.", extra={"change": "at a roll-out"}),
    ] = 10.0
    rebuild_stall_s: Annotated[
        float,
        Meta(
            ge=0.5,
            le=60,
            description="How long a rebuild waits for the log to go on, for example for an open transaction to end, "
            "before it begins again.",
            extra={"change": "at a roll-out"},
        ),
    ] = 5.0
    drain_deadline_s: Annotated[
        float,
        Meta(
            ge=0.5,
            le=600,
            description="What a stop may take to label and publish what was read; the rest is left to the next owner, "
            "who reads it again.",
            extra={"change": "at a roll-out"},
        ),
    ] = 20.0
    max_skew_ms: Annotated[
        int,
        Meta(
            ge=0,
            le=600_000,
            description="How far a record's time stamp may lie ahead of the worker's clock before it is cut back; by "
            "so much one producer's fast clock can bring everybody's silence forward.",
            extra={"change": "at a roll-out"},
        ),
    ] = 0
    replication_ms: Annotated[
        int,
        Meta(
            ge=0,
            le=10_000,
            description="How long a record of the input topic may be stamped and not yet replicated, so that nobody "
            "sees it: silence is believed so much later. 0 for a topic without replicas.",
            extra={"change": "at a roll-out"},
        ),
    ] = 50
    dead_letter_limit: Annotated[
        int,
        Meta(
            ge=1,
            le=1_000_000,
            description="Malformed events of one partition within `dead_letter_window_s`; beyond them the partition "
            "is paused and reported, not drained.",
            extra={"change": "at a roll-out"},
        ),
    ] = 1000
    dead_letter_window_s: Annotated[
        float,
        Meta(ge=1, le=86_400, description="Window of `dead_letter_limit`.", extra={"change": "at a roll-out"}),
    ] = 60.0
    max_dead_letter_bytes: Annotated[
        int,
        Meta(
            ge=1024,
            le=100_000_000,
            description="Longest value of a dead letter; what is longer is cut, its length and SHA-256 stand in the "
            "headers. At most what the dead-letter topic takes.",
            extra={"change": "at a roll-out"},
        ),
    ] = 1_000_000
    tentative_interval_ms: Annotated[
        int,
        Meta(
            ge=300,
            le=60_000,
            description="Least time between two records of a session in `tentative_topic`.",
            extra={"change": "at a roll-out"},
        ),
    ] = 300
    wire_format: Annotated[
        WireFormat,
        Meta(
            description="How segments and translation routes are written: `msgpack`, or `json` for readers that have "
            "nothing else, such as Kafka Connect, kcat or a UI; larger by a third. Events are read in either.",
            extra={"change": "at a roll-out, once all consumers read the new one"},
        ),
    ] = WireFormat.MSGPACK
    models_dir: Annotated[
        str,
        Meta(
            description="Folder of the models; empty: the ones shipped with the package.",
            extra={"change": "at a roll-out"},
        ),
    ] = ""
    active_models: Annotated[
        tuple[str, ...],
        Meta(
            description="Models that take new buffers of their language, instead of those whose manifests say so: "
            "an id, or `id@version`. A running buffer stays with the model that labelled it.",
            extra={"change": "at a roll-out; workers may differ"},
        ),
    ] = ()
    http_host: Annotated[
        str, Meta(description="Address that metrics and health are served on.", extra={"change": "at a restart"})
    ] = "127.0.0.1"
    http_port: Annotated[
        int,
        Meta(ge=0, le=65_535, description="Port of metrics and health; 0: none.", extra={"change": "at a restart"}),
    ] = 9464
    traces: Annotated[
        Traces,
        Meta(
            description="Where OpenTelemetry spans go. `otlp` needs the extra `traces`; OpenTelemetry's own variables "
            "(`OTEL_...`) name the collector.",
            extra={"change": "at a restart"},
        ),
    ] = Traces.NONE

    def cleaning(self, level: CleaningLevel = CleaningLevel.FULL) -> Cleaning:
        """Return what the fluent rendering leaves out at a level, the operator's own words with it."""
        return Cleaning(level=level, fillers=phrases(self.own_fillers), kept=phrases(self.kept_phrases))

    def overlays(self, numbers: NumberForm = NumberForm.WORDS) -> OverlayRules:
        """Return what is written otherwise than it was said, the operator's own spellings with it."""
        return OverlayRules(numbers=numbers, spellings=Spellings(self.spellings), french_spaces=self.french_spaces)

    @property
    def engine_limit_mib(self) -> int:
        """The most memory for data of the engine's process."""
        return self.engine_process_mib or self.engine_memory_mib + _ENGINE_BESIDE_MIB

    @property
    def group(self) -> str:
        """The consumer group's id."""
        return self.deployment

    @property
    def transactional_id(self) -> str:
        """The producer's transactional id: deployment and ordinal."""
        return f"{self.deployment}-{self.ordinal}"
