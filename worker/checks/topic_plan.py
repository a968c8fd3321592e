"""The topics that Caesura wants, and how they must be set, each with its reason. Pure.

Rules: docs/design.md, docs/exactly-once.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from caesura.worker.adapters.kafka.topics import FoundTopic, WantedTopic
from caesura.worker.checks.findings import Finding, FindingLevel
from caesura.worker.runtime.settings.settings import RuntimeSettings

INPUT_MAX_MESSAGE_BYTES = 1_048_576
"""What the input topic takes: an event, and room for a batch's headers."""

_DEAD_LETTER_ROOM_BYTES = 65_536
_DAY_MS = 86_400_000
_SEGMENT_MS = 7 * _DAY_MS
"""A broker's own ``segment.ms``: so long a record may outlive its retention, until its segment is closed."""

_TENTATIVE_MS = "600000"
"""Unfrozen words are of no use once they have frozen."""
_LEDGER = {
    "cleanup.policy": "compact",
    "segment.bytes": str(16 * 1024 * 1024),
    "segment.ms": "600000",
    "min.cleanable.dirty.ratio": "0.1",
    "max.compaction.lag.ms": "3600000",
}
_WHY = {
    "message.timestamp.type": "silence is counted on the partition's time, which a producer's clock must not move",
    "max.message.bytes": "a dead letter holds the event's bytes and says where they came from",
    **dict.fromkeys(_LEDGER, "a rebuild reads the whole ledger, so it must stay short"),
    "delete.retention.ms": "a tombstone must stay as long as a rebuild could read again what it forgets",
}
_LONGEST_MS = 3650 * _DAY_MS
"""Ten years, for ever: brokers add it to the time of day, so a larger number could overflow."""


def wanted_topics(
    settings: RuntimeSettings,
    *,
    partitions: int,
    retention_ms: int = 7 * _DAY_MS,
    max_event_bytes: int = INPUT_MAX_MESSAGE_BYTES,
) -> list[WantedTopic]:
    """Return every topic of a deployment, the input first; all have its partition count.

    retention_ms: the input's, and of whatever else is deleted by age; -1: kept for ever.
    """
    keep = {"cleanup.policy": "delete", "retention.ms": str(retention_ms)}
    kept_ms = _LONGEST_MS if retention_ms < 0 else min(retention_ms, _LONGEST_MS)
    routes = {route.topic: keep for route in settings.routes}
    dead_bytes = str(max_event_bytes + _DEAD_LETTER_ROOM_BYTES)
    options: dict[str, Mapping[str, str]] = {
        settings.input_topic: keep
        | {"message.timestamp.type": "LogAppendTime", "max.message.bytes": str(max_event_bytes)},
        settings.segment_topic: keep,
        **routes,
        settings.dead_letter_topic: keep | {"max.message.bytes": dead_bytes},
        **({settings.tentative_topic: keep | {"retention.ms": _TENTATIVE_MS}} if settings.tentative_topic else {}),
        settings.ledger: _LEDGER | {"delete.retention.ms": str(min(kept_ms + _SEGMENT_MS, _LONGEST_MS))},
        settings.claims: {},
    }
    purposes = {
        settings.input_topic: "word events in",
        settings.segment_topic: "segments out",
        settings.dead_letter_topic: "events that can never be applied",
        settings.ledger: "what sessions are rebuilt from",
        settings.claims: "nearly empty: what shows a claim its coordinator; requests of `caesura skip`",
        settings.tentative_topic: "words that are not frozen",
    }
    return [
        WantedTopic(name=name, purpose=purposes.get(name, "translation route"), partitions=partitions, options=chosen)
        for name, chosen in options.items()
    ]


def differing(wanted: WantedTopic, found: FoundTopic) -> dict[str, str]:
    """Return the options that a promise rests on and that the cluster has otherwise; retention is the operator's."""
    return {
        option: value
        for option, value in wanted.options.items()
        if option in _WHY and not _good_enough(option, found.options.get(option), value)
    }


def retention_of(found: FoundTopic, *, otherwise_ms: int) -> int:
    """Return how long a topic keeps its records, in milliseconds, -1: for ever; what is not told is ``otherwise_ms``.

    A topic that is not deleted by age keeps them for ever.
    """
    if "delete" not in found.options.get("cleanup.policy", "delete"):
        return -1
    return int(found.options.get("retention.ms", otherwise_ms))


def judge(wanted: WantedTopic, found: FoundTopic | None) -> Iterator[Finding]:
    """Yield what is to be said about one topic."""
    subject = f"topic {wanted.name}"
    if found is None:
        yield Finding(
            subject=subject,
            verdict=FindingLevel.BAD,
            reason=f"it is missing ({wanted.purpose}); `caesura topics create` makes it",
        )
        return
    bad = [
        f"{option} is {found.options.get(option, 'unknown')} and must be {value}: {_WHY[option]}"
        for option, value in differing(wanted, found).items()
    ]
    if found.partitions != wanted.partitions:
        bad.append(
            f"it has {found.partitions} partitions and the input {wanted.partitions}: a record goes to its input's "
            "partition number"
        )
    for reason in bad:
        yield Finding(subject=subject, verdict=FindingLevel.BAD, reason=reason)
    kept, wanted_ms = (one.get("delete.retention.ms") for one in (found.options, wanted.options))
    if wanted_ms is not None and kept is not None and not bad and int(kept) < int(wanted_ms):
        yield Finding(
            subject=subject,
            verdict=FindingLevel.WARNING,
            reason=f"delete.retention.ms is {kept}; {wanted_ms} is wanted: the input's records may outlive their "
            "retention by a segment's time, and a tombstone must outlive them",
        )
    in_sync = found.options.get("min.insync.replicas", "1")
    if found.replication < 3 or in_sync == "1":
        yield Finding(
            subject=subject,
            verdict=FindingLevel.WARNING,
            reason=f"replication {found.replication}, min.insync.replicas {in_sync}: the loss of one broker's disk can "
            "lose what was committed; 3 and 2 are what production wants",
        )
    elif not bad:
        yield Finding(
            subject=subject, verdict=FindingLevel.GOOD, reason=f"{wanted.purpose}, {found.partitions} partitions"
        )


def _good_enough(option: str, found: str | None, wanted: str) -> bool:
    if found is None:
        return False
    if option == "max.message.bytes":
        return int(found) >= int(wanted)
    if option in ("segment.bytes", "segment.ms", "min.cleanable.dirty.ratio", "max.compaction.lag.ms"):
        return float(found) <= float(wanted)
    if option == "delete.retention.ms":  # what releases before asked for, without a segment's time, is warned of
        return int(found) >= min(int(wanted) - _SEGMENT_MS, _LONGEST_MS - _SEGMENT_MS)
    return found == wanted
