"""What Redis, the ledger and the offsets keep of a run: each thing that is lost or altered there is found."""

from __future__ import annotations

import dataclasses

import msgspec

from caesura.schemas.checkpoint import OffsetMetadata
from caesura.worker.ports.records import CommittedOffset
from tests.chaos.kept import Kept, check_kept
from tests.chaos.ordered_run import a_run
from tests.chaos.timed import TIMERS


def kept_kinds(kept: Kept) -> set[str]:
    output, spoken, _ = a_run()
    return {one.kind for one in check_kept(spoken, output, kept, TIMERS)}


def of_a_session(kept: Kept) -> tuple[int, str]:
    """Return a session that is in Redis, and its partition."""
    return next((partition, name) for partition, fields in kept.fields.items() for name in fields)


def test_a_field_that_redis_lost_or_has_too_much_is_found() -> None:
    kept = a_run()[2]
    partition, name = of_a_session(kept)
    fewer = {other: field for other, field in kept.fields[partition].items() if other != name}
    more = {**kept.fields[partition], "nobody": kept.fields[partition][name]}
    assert kept_kinds(dataclasses.replace(kept, fields={**kept.fields, partition: fewer})) == {"lost"}
    assert "foreign" in kept_kinds(dataclasses.replace(kept, fields={**kept.fields, partition: more}))


def test_counters_of_another_session_are_found() -> None:
    kept = a_run()[2]
    partition, name = of_a_session(kept)
    other = next(one for one in kept.fields[partition] if one != name)
    fields = {**kept.fields[partition], name: kept.fields[partition][other]}
    assert "relabelled" in kept_kinds(dataclasses.replace(kept, fields={**kept.fields, partition: fields}))


def test_a_ledger_without_its_last_record_of_a_session_is_found() -> None:
    kept = a_run()[2]
    _, name = of_a_session(kept)
    places = [place for place, one in enumerate(kept.ledger) if one.key == name.encode()]
    fewer = [one for place, one in enumerate(kept.ledger) if place != places[-1]]
    none = [one for one in kept.ledger if one.key != name.encode()]
    assert kept_kinds(dataclasses.replace(kept, ledger=fewer)) & {"relabelled", "lost"}
    assert "lost" in kept_kinds(dataclasses.replace(kept, ledger=none))


def test_an_offset_that_is_missing_behind_or_anothers_is_found() -> None:
    kept = a_run()[2]
    committed = kept.offsets[0]
    assert committed is not None
    behind = dataclasses.replace(committed, next_offset=committed.next_offset - 1)
    anothers = CommittedOffset(next_offset=committed.next_offset, metadata="")
    for wrong in (None, behind, anothers):
        assert "lost" in kept_kinds(dataclasses.replace(kept, offsets={**kept.offsets, 0: wrong}))


def test_a_ledger_that_is_not_what_was_committed_of_it_is_found() -> None:
    kept = a_run()[2]
    committed = kept.offsets[0]
    metadata = None if committed is None else OffsetMetadata.decode(committed.metadata)
    assert committed is not None
    assert metadata is not None
    assert metadata.ledger is not None
    wrong = msgspec.structs.replace(metadata, ledger=metadata.ledger._replace(digest=metadata.ledger.digest ^ 1))
    offset = dataclasses.replace(committed, metadata=wrong.encode())
    assert "lost" in kept_kinds(dataclasses.replace(kept, offsets={**kept.offsets, 0: offset}))
