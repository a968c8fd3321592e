"""Offsets set on purpose, and records given up as poison: what may come of them, and bugs planted in that are found."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec
import pytest

from caesura.schemas.segments import ModelRef, Segment
from caesura.worker.adapters.memory.log_reader import MemoryLogReader
from caesura.worker.commands.skip import request_skip
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.records import NextOffset, Record
from tests.chaos.changes import FIRST_VERSION, model_names
from tests.chaos.kept import Kept, check_kept
from tests.chaos.oracle import check_models, check_said
from tests.chaos.ordered_run import kept_in
from tests.chaos.poison import POISON, SKIPPED, poisoned_records
from tests.chaos.said import Place, Said, said
from tests.harness.checker import Adopted, Output, Violation, check
from tests.harness.in_memory_world import World
from tests.harness.producers import spoken
from tests.harness.reference import RULES, Origin, output_of, undisturbed
from tests.harness.unsure import ChokingPublisher

PARTITIONS = 2
PASSED_OVER = 3


class _Run(NamedTuple):
    words: list[Record]
    set_aside: dict[Origin, str]
    adopted: list[Adopted]
    output: Output
    said: Said
    kept: Kept


@functools.cache
def a_run() -> _Run:
    """Have sessions speak to workers on the twins, one of them poison; set an offset in their midst on purpose.

    The second partition's offset is set twice, with words said after it that lie beyond what is skipped.
    """
    rules = DecodingRules(routes=frozenset({"de"}), **RULES)  # type: ignore[arg-type]
    world = World(partitions=PARTITIONS, rules=rules)
    before, after = poisoned_records(1, 0, PARTITIONS)
    lines = spoken(7, 24, PARTITIONS)
    middle = [one for one in lines if one.partition == 1]
    adopted = []
    worker = world.worker(around=ChokingPublisher, dead_letter_limit=1_000_000)
    for one in (one for one in lines if one.partition == 0):
        world.broker.append("asr.words", 0, one.value, key=one.key)
    stops, goes_on = poisoned_records(2, 0, PARTITIONS, reason=SKIPPED)
    before, after = [*before, *stops], [*goes_on, *after]
    for sent in before:
        world.broker.append("asr.words", 0, sent.value, key=sent.key)
    newer = world.broker.log("asr.words", 0).end - 1
    for stop in (len(middle) // 3, len(middle) * 5 // 6):
        while world.broker.log("asr.words", 1).end < stop:
            one = middle[world.broker.log("asr.words", 1).end]
            world.broker.append("asr.words", 1, one.value, key=one.key)
        worker.turn(4_000)
        if 0 in worker.worker.assignment.parked:
            request_skip(MemoryLogReader(world.broker), world.settings(), 0, newer)
            worker.turn(400)
        worker.worker.drain()
        for one in middle[stop : stop + PASSED_OVER]:
            world.broker.append("asr.words", 1, one.value, key=one.key)
        here = Adopted(1, stop, stop + PASSED_OVER)
        adopted.append(here)
        world.broker.set_offset("caesura", "asr.words", 1, NextOffset(next_offset=here.begins_at, metadata=""))
        worker = world.worker(around=ChokingPublisher, dead_letter_limit=1_000_000, adopt_foreign_offsets=True)
        worker.turn(200)
    world.redis.lose_everything()
    for one in middle[world.broker.log("asr.words", 1).end :]:
        world.broker.append("asr.words", 1, one.value, key=one.key)
    for sent in after:
        world.broker.append("asr.words", 0, sent.value, key=sent.key)
    worker.turn(4_000)
    refused = {Place(one.partition, one.key, one.value): one.refused for one in before if one.refused is not None}
    words = world.records("asr.words")
    output = output_of(world.records("asr.segments"), world.records("translate.de"), world.records("asr.words.dead"))
    refused |= {
        Place(letter.partition, words_at(words, letter.partition, letter.offset).key, letter.value): letter.reason
        for letter in output.letters
        if letter.reason in ("malformed", "key_mismatch", "wrong_partition")
    }
    kept = kept_in(world, worker)
    begins = {(one.session, one.since) for one in output.segments}
    set_aside: dict[Origin, str] = {place: reason for place, reason in refused.items() if reason in {POISON, SKIPPED}}
    return _Run(words, set_aside, adopted, output, said(words, refused, begins, adopted), kept)


def words_at(words: Sequence[Record], partition: int, offset: int) -> Record:
    return next(one for one in words if (one.partition, one.offset) == (partition, offset))


def everything_found(output: Output, kept: Kept | None = None) -> set[str]:
    run = a_run()
    found: list[Violation] = [*check_said(run.said, output), *check_kept(run.said, output, kept or run.kept)]
    found += check_models(output, model_names(range(FIRST_VERSION, FIRST_VERSION + 1)))
    return {one.kind for one in found}


def test_a_run_in_order_has_no_violation_and_everything_occurs_in_it() -> None:
    run = a_run()
    assert everything_found(run.output) == set()
    reasons = [one.reason for one in run.output.letters]
    assert (reasons.count(POISON), reasons.count(SKIPPED)) == (1, 1)
    broken_off = [one for one in run.said.runs.values() if one.broken_off]
    came = {(one.session, one.since) for one in run.output.segments}
    assert any((one.session, one.since) in came for one in broken_off)
    assert {one.session for one in broken_off} & {one.session for one in run.said.runs.values() if not one.given_up}


def test_the_expected_run_includes_set_aside_records_and_adoptions() -> None:
    run = a_run()
    assert check(undisturbed(run.words, PARTITIONS, run.set_aside, run.adopted), run.output) == []


def test_omitting_set_aside_records_or_adoptions_shows_violations() -> None:
    run = a_run()
    skipped = {place: reason for place, reason in run.set_aside.items() if reason == SKIPPED}
    assert check(undisturbed(run.words, PARTITIONS, run.set_aside), run.output)
    assert check(undisturbed(run.words, PARTITIONS, skipped, run.adopted), run.output)


def _of_one_broken_off(segments: list[Segment]) -> int:
    """Return the place of the last segment of a session that was broken off and published before."""
    broken_off = {(one.session, one.since) for one in a_run().said.runs.values() if one.broken_off}
    return max(place for place, one in enumerate(segments) if (one.session, one.since) in broken_off and one.words)


def go_on_after_the_adoption(segments: list[Segment]) -> None:
    place = _of_one_broken_off(segments)
    one = segments[place]
    words = tuple(msgspec.structs.replace(word, text=f"{word.text}!") for word in one.words)
    segments.append(msgspec.structs.replace(one, index=one.index + 1, words=words))


def publish_again_after_the_adoption(segments: list[Segment]) -> None:
    segments.append(segments[_of_one_broken_off(segments)])


def lose_a_word_before_the_adoption(segments: list[Segment]) -> None:
    place = _of_one_broken_off(segments)
    segments[place] = msgspec.structs.replace(segments[place], words=segments[place].words[1:])


def publish_what_is_poison(segments: list[Segment]) -> None:
    place = max(place for place, one in enumerate(segments) if one.session.startswith("p1") and one.words)
    poison = msgspec.structs.replace(segments[place].words[0], text="deadly-word")
    segments[place] = msgspec.structs.replace(segments[place], words=(poison, *segments[place].words))


def name_a_model_that_nobody_served(segments: list[Segment]) -> None:
    segments[-1] = msgspec.structs.replace(segments[-1], model=ModelRef(id="scripted-en", version="7"))


@pytest.mark.parametrize(
    "planted",
    [
        go_on_after_the_adoption,
        publish_again_after_the_adoption,
        lose_a_word_before_the_adoption,
        publish_what_is_poison,
        name_a_model_that_nobody_served,
    ],
)
def test_a_bug_planted_in_the_output_is_found(planted: Callable[[list[Segment]], None]) -> None:
    segments = list(a_run().output.segments)
    planted(segments)
    assert everything_found(dataclasses.replace(a_run().output, segments=segments))


@pytest.mark.parametrize("reason", [POISON, SKIPPED])
def test_a_record_set_aside_without_its_letter_or_with_two_is_found(reason: str) -> None:
    output = a_run().output
    others = [one for one in output.letters if one.reason != reason]
    assert "lost" in everything_found(dataclasses.replace(output, letters=others))
    twice = [*output.letters, *(one for one in output.letters if one.reason == reason)]
    assert everything_found(dataclasses.replace(output, letters=twice))


def _without_note_of_poison(ledger: Sequence[Record]) -> list[Record]:
    return [one for one in ledger if not (one.key or b"").startswith(b"\x00refused:")]


def _without_tombstones(ledger: Sequence[Record]) -> list[Record]:
    return [one for one in ledger if one.value is not None or (one.key or b"").startswith(b"\x00")]


@pytest.mark.parametrize("spoil", [_without_note_of_poison, _without_tombstones])
def test_a_ledger_without_the_give_up_records_is_reported(spoil: Callable[[Sequence[Record]], list[Record]]) -> None:
    run = a_run()
    assert everything_found(run.output, dataclasses.replace(run.kept, ledger=spoil(run.kept.ledger)))


def test_a_session_that_was_given_up_and_is_in_redis_is_found() -> None:
    run = a_run()
    last = {one.session: one for one in run.said.runs.values()}
    name = next(name for name, one in last.items() if one.given_up)
    (taken, *_) = run.kept.fields[1].values()
    fields = {**run.kept.fields, 1: {**run.kept.fields[1], name: taken}}
    assert "foreign" in everything_found(run.output, dataclasses.replace(run.kept, fields=fields))
