"""The checker finds what it is there to find: bugs planted in the output, and one planted in the commit protocol."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import msgspec
import pytest

from caesura.schemas.segments import Segment
from caesura.worker.adapters.memory.session_store import StoreFault
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.commit_steps import CommitStep
from tests.harness.checker import Output, check, tally
from tests.harness.crashing import Interrupted
from tests.harness.in_memory_world import World
from tests.harness.reference import RULES, output_of, undisturbed
from tests.harness.spoken import spoken

PARTITIONS = 2


@functools.cache
def output() -> Output:
    return undisturbed(spoken(7, 12, PARTITIONS), PARTITIONS)


def with_segments(found: Output, change: Callable[[list[Segment]], None]) -> Output:
    segments = list(found.segments)
    change(segments)
    return dataclasses.replace(found, segments=segments)


def longest(segments: list[Segment]) -> int:
    return max(range(len(segments)), key=lambda place: len(segments[place].words))


def kinds(found: Output) -> set[str]:
    return {kind for kind, count in tally(check(output(), found)).items() if count}


def test_an_undisturbed_run_has_no_violation() -> None:
    assert check(output(), output()) == []


def test_a_doubled_segment_is_found() -> None:
    def double(segments: list[Segment]) -> None:
        segments.append(segments[longest(segments)])

    assert "doubled" in kinds(with_segments(output(), double))


def test_a_lost_segment_is_found_and_leaves_a_gap() -> None:
    def lose(segments: list[Segment]) -> None:
        followed = {(one.session, one.since, one.index - 1) for one in segments}
        inner = [place for place, one in enumerate(segments) if (one.session, one.since, one.index) in followed]
        del segments[max(inner, key=lambda place: len(segments[place].words))]

    assert {"lost", "gap"} <= kinds(with_segments(output(), lose))


def test_a_lost_word_is_found() -> None:
    def lose(segments: list[Segment]) -> None:
        place = longest(segments)
        segments[place] = msgspec.structs.replace(segments[place], words=segments[place].words[:-1])

    assert "lost" in kinds(with_segments(output(), lose))


def test_a_changed_label_is_found() -> None:
    def relabel(segments: list[Segment]) -> None:
        place = longest(segments)
        first, *rest = segments[place].words
        mark = "comma" if first.punctuation == "none" else "none"
        words = (msgspec.structs.replace(first, punctuation=mark), *rest)
        segments[place] = msgspec.structs.replace(segments[place], words=words)

    assert kinds(with_segments(output(), relabel)) == {"relabelled"}


def test_a_changed_cause_is_found() -> None:
    def change(segments: list[Segment]) -> None:
        segments[0] = msgspec.structs.replace(segments[0], sentence=segments[0].sentence + 1)

    assert kinds(with_segments(output(), change)) == {"relabelled"}


def test_another_word_is_found() -> None:
    def replace(segments: list[Segment]) -> None:
        place = longest(segments)
        first, *rest = segments[place].words
        words = (msgspec.structs.replace(first, text="another"), *rest)
        segments[place] = msgspec.structs.replace(segments[place], words=words)

    assert "foreign" in kinds(with_segments(output(), replace))


def test_swapped_segments_of_a_session_are_found() -> None:
    def swap(segments: list[Segment]) -> None:
        places = [place for place, one in enumerate(segments) if one.session == segments[0].session]
        segments[places[0]], segments[places[1]] = segments[places[1]], segments[places[0]]

    assert kinds(with_segments(output(), swap)) == {"reordered"}


def test_another_order_among_the_sessions_is_no_violation() -> None:
    def by_name(segments: list[Segment]) -> None:
        segments.sort(key=lambda one: one.session)

    assert kinds(with_segments(output(), by_name)) == set()


def test_a_lost_translation_is_found_by_its_route_too() -> None:
    found = output()
    assert {"lost", "gap"} <= kinds(dataclasses.replace(found, translations=found.translations[1:]))


def test_lost_and_doubled_dead_letters_are_found() -> None:
    found = output()
    first, *rest = found.letters
    assert kinds(dataclasses.replace(found, letters=rest)) == {"lost"}
    assert kinds(dataclasses.replace(found, letters=[first, first, *rest])) == {"doubled"}


def zombie_writes_late(step: CommitStep = CommitStep.CLAIM_OFFSET_READ) -> Output:
    """A worker's save is on its way when it vanishes, and lands while the next owner's claim is half done."""
    world = World(rules=DecodingRules(routes=frozenset({"de"}), **RULES))  # type: ignore[arg-type]
    records = spoken(7, 2)
    half = len(records) // 2
    for record in records[:half]:
        world.broker.append("asr.words", 0, record.value, key=record.key)
    first = world.worker(0, commit_interval_ms=10)
    first.settle()
    for record in records[half:]:
        world.broker.append("asr.words", 0, record.value, key=record.key)
    first.store.fail_next("write", StoreFault.LANDS_LATER)
    first.turn(4)
    world.broker.expel("caesura", "asr.words", first.source.member_id)

    def land() -> None:
        world.redis.land_late()

    lands = Interrupted(step, land, armed=True)
    world.worker(1, observer=lands, commit_interval_ms=10).settle()
    return output_of(world.records("asr.segments"), world.records("translate.de"), world.records("asr.words.dead"))


@pytest.mark.parametrize("step", [CommitStep.CLAIM_OFFSET_READ, CommitStep.CLAIM_LOADED, CommitStep.COMMITTED])
def test_a_late_write_changes_nothing(step: CommitStep) -> None:
    assert check(undisturbed(spoken(7, 2), 1), zombie_writes_late(step)) == []
