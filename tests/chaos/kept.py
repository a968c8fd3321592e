"""Checks what is kept when all is said (offsets and their metadata, Redis, the ledger) against what was said and came.

A session that nobody has forgotten has its counters in Redis, and, once it has published, in the ledger; they are those
of the words that came out. One that was forgotten has neither, and its time had come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from caesura.schemas.checkpoint import OffsetMetadata
from caesura.schemas.ledger_sum import LedgerSum
from caesura.schemas.segments import Segment
from caesura.schemas.state import SessionFacts, SessionStatus, decode_ledger, decode_state
from caesura.worker.ports.records import CommittedOffset, Record
from caesura.worker.runtime.ledger.output_records import REFUSED_HEADER, parse_refused
from tests.chaos.oracle import Timers
from tests.chaos.poison import POISON, SKIPPED
from tests.chaos.said import Run, Said
from tests.harness.checker import Findings, Output, Violation


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What is found in the end.

    ends: the words topic's end by partition. offsets: the group's. fields: sessions' fields in Redis, by partition.
    ledger: the ledger's records, partition by partition in their order.
    """

    ends: Mapping[int, int]
    offsets: Mapping[int, CommittedOffset | None]
    fields: Mapping[int, Mapping[str, bytes]]
    ledger: Sequence[Record]


def check_kept(said: Said, found: Output, kept: Kept, timers: Timers | None = None) -> list[Violation]:
    """Return every violation."""
    findings = Findings("kept")
    for partition in kept.ends:
        _check_offset(partition, kept, findings)
    latest = {(one.key or b"").decode(): one.value for one in kept.ledger}
    last: dict[str, Run] = {}
    for run in said.runs.values():
        last[run.session] = run
    segments: dict[tuple[str, int], list[Segment]] = {}
    for one in found.segments:
        segments.setdefault((one.session, one.since), []).append(one)
    stored = _stored(kept, findings)
    for name, run in last.items():
        _check_session(run, segments.get((name, run.since), []), stored, latest, findings, timers)
    for name in stored.keys() - last.keys():
        findings.add("foreign", f"{name} is in Redis, and never spoke")
    refused = {
        (one.partition, offset)
        for one in kept.ledger
        for offset in parse_refused(dict(one.headers).get(REFUSED_HEADER) or b"")
    }
    for letter in found.letters:
        if letter.reason in {POISON, SKIPPED} and letter[:2] not in refused:
            findings.add("lost", f"the ledger does not hold that {letter[:2]} was refused")
    return findings.found


def _check_session(
    run: Run,
    came: Sequence[Segment],
    stored: Mapping[str, SessionFacts],
    latest: Mapping[str, bytes | None],
    findings: Findings,
    timers: Timers | None,
) -> None:
    """latest: the ledger's last record of each key."""
    name = run.session
    recorded = latest.get(name)
    if run.given_up:
        if name in stored or recorded is not None:
            findings.add("foreign", f"{name} was given up by an operator, and is in Redis or in the ledger")
        if came and name not in latest:
            findings.add("lost", f"{name} was given up by an operator, and the ledger does not say so")
        return
    ledger = None if recorded is None else decode_ledger(recorded)
    if name in stored:
        _check_facts(run, came, stored[name], "Redis", findings, whole=True)
    if came and ledger is not None:
        _check_facts(run, came, ledger, "the ledger", findings, whole=False)
    forgotten = name in latest and recorded is None
    if name not in stored and not (forgotten and timers is not None and came and came[-1].session_end):
        findings.add("lost", f"{name} is not in Redis, and nobody forgot it")
    if came and not forgotten and ledger is None:
        findings.add("lost", f"{name} has published and is not in the ledger")
    if forgotten and name in stored:
        findings.add("foreign", f"{name} was forgotten and is in Redis")


def _check_offset(partition: int, kept: Kept, findings: Findings) -> None:
    offset = kept.offsets.get(partition)
    metadata = None if offset is None else OffsetMetadata.decode(offset.metadata)
    if offset is None or metadata is None:
        findings.add("lost", f"partition {partition}: no offset, or without its metadata")
        return
    if offset.next_offset != kept.ends[partition]:
        findings.add("lost", f"partition {partition}: read to {offset.next_offset} of {kept.ends[partition]}")
    if not metadata.replay_offset <= offset.next_offset or metadata.partitions != len(kept.ends):
        findings.add("foreign", f"partition {partition}: its metadata is of something else")
    if metadata.ledger != _ledger_sum(partition, kept):
        findings.add("lost", f"partition {partition}: what is committed of the ledger is not what it says")


def _ledger_sum(partition: int, kept: Kept) -> LedgerSum:
    latest = {one.key: one.value for one in kept.ledger if one.partition == partition}
    return LedgerSum().plus(*(decode_ledger(value) for value in latest.values() if value is not None))


def _stored(kept: Kept, findings: Findings) -> dict[str, SessionFacts]:
    """Return each session's snapshot."""
    states: dict[str, SessionFacts] = {}
    for fields in kept.fields.values():
        for name, snapshot in fields.items():
            try:
                states[name] = decode_state(snapshot)
            except ValueError:
                findings.add("foreign", f"{name!r} is in Redis and no session's: no claim has mended what spoilt it")
    return states


def _check_facts(
    run: Run, came: Sequence[Segment], state: SessionFacts, place: str, findings: Findings, *, whole: bool
) -> None:
    """Compare counters. whole: they are as of the last event, not of the last segment."""
    words = sum(len(one.words) for one in came)
    if (state.since, state.output.index, state.output.words) != (run.since, len(came), words):
        findings.add("relabelled", f"{run.session} in {place}: since, index or words are not those that came out")
    if whole and (state.admission.epoch, state.admission.next_seq) != (run.epoch, run.next_seq):
        findings.add("relabelled", f"{run.session} in {place}: the next event is another than its producer's")
    if whole and (state.admission.status is SessionStatus.ENDED) != run.ended:
        findings.add("relabelled", f"{run.session} in {place}: {state.admission.status}, its producer says otherwise")
    if came and came[-1].session_end and state.admission.status is SessionStatus.OPEN and not run.events[-1].words:
        findings.add("relabelled", f"{run.session} in {place}: open, though it was closed")
