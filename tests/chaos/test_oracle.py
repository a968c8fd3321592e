"""The oracle says nothing of a run that is in order, timers and all, and finds each bug that is planted in one."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence

import msgspec
import pytest
from confluent_kafka import KafkaError, KafkaException
from typing_extensions import override

from caesura.schemas.checkpoint import OffsetMetadata
from caesura.schemas.segments import Piece, Segment, SegmentWord, TranslationSegment
from caesura.worker.adapters.memory.session_store import StoreFault
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.errors import StoreError
from caesura.worker.ports.commit_steps import CommitStep
from caesura.worker.ports.records import CommittedOffset, Record
from tests.chaos.kept import Kept, _stored, check_kept
from tests.chaos.oracle import as_far_as, check_said
from tests.chaos.ordered_run import a_run
from tests.chaos.plan import Plan
from tests.chaos.runner import left_by
from tests.chaos.said import SaidWord
from tests.chaos.timed import TIMERS
from tests.chaos.world import ChaosWorld
from tests.harness.checker import Findings, Output, check, tally
from tests.harness.crashing import Interrupted
from tests.harness.in_memory_world import World
from tests.harness.producers import spoken
from tests.harness.reference import RULES, output_of, undisturbed

Plant = Callable[[list[Segment]], None]


def kinds(found: Output) -> set[str]:
    return {kind for kind, count in tally(check_said(a_run()[1], found, TIMERS)).items() if count}


def planted(output: Output, plant: Plant) -> Output:
    segments = list(output.segments)
    plant(segments)
    return dataclasses.replace(output, segments=segments)


def every(which: Callable[[Segment], bool], **fields: object) -> Plant:
    """Return what changes every segment that is asked for; there is one."""

    def plant(segments: list[Segment]) -> None:
        places = [place for place, one in enumerate(segments) if which(one)]
        assert places
        for place in places:
            segments[place] = msgspec.structs.replace(segments[place], **fields)

    return plant


def every_word(**fields: object) -> Plant:
    def plant(segments: list[Segment]) -> None:
        for place, one in enumerate(segments):
            words = tuple(msgspec.structs.replace(word, **fields) for word in one.words)
            segments[place] = msgspec.structs.replace(one, words=words)

    return plant


def longest(segments: list[Segment]) -> int:
    return max(range(len(segments)), key=lambda place: len(segments[place].words))


def in_the_longest(change: Callable[[Segment], Segment]) -> Plant:
    def plant(segments: list[Segment]) -> None:
        place = longest(segments)
        segments[place] = change(segments[place])

    return plant


def plus_one(name: str, *, of: str | None = None) -> Callable[[Segment], Segment]:
    """Return what adds one to a number of a segment, or of its part ``of``."""

    def change(one: Segment) -> Segment:
        part = one if of is None else getattr(one, of)
        more = msgspec.structs.replace(part, **{name: getattr(part, name) + 1})
        return more if of is None else msgspec.structs.replace(one, **{of: more})

    return change


def other_words(change: Callable[[tuple[SegmentWord, ...]], Sequence[SegmentWord]]) -> Plant:
    return in_the_longest(lambda one: msgspec.structs.replace(one, words=tuple(change(one.words))))


def first_word(**fields: object) -> Plant:
    return other_words(lambda words: (msgspec.structs.replace(words[0], **fields), *words[1:]))


def test_a_run_that_is_in_order_has_no_violation_and_everything_occurs_in_it() -> None:
    output, spoken, kept = a_run()
    assert check_said(spoken, output, TIMERS) == []
    assert check_kept(spoken, output, kept, TIMERS) == []
    assert {"sentence", "settled", "silence", "utterance", "language", "end", "idle"} <= {
        one.cause for one in output.segments
    }
    assert any(one.gaps for one in output.segments)
    assert any(one.attributes for one in output.segments)
    assert {"malformed", "late", "stale_epoch", "session_ended"} <= {one.reason for one in output.letters}
    assert {"key_mismatch", "wrong_partition"} & {one.reason for one in output.letters}
    assert any(word.confidence is not None for one in output.segments for word in one.words)


def lose_the_record_that_ends_a_session(segments: list[Segment]) -> None:
    del segments[next(place for place, one in enumerate(segments) if one.cause == "end" and not one.words)]


def double_the_record_that_ends_a_session(segments: list[Segment]) -> None:
    one = next(one for one in segments if one.cause == "end")
    segments.append(msgspec.structs.replace(one, index=one.index + 1, words=(), gaps=()))


def close_twice_for_idleness(segments: list[Segment]) -> None:
    one = segments[longest(segments)]
    run = [other for other in segments if (other.session, other.since) == (one.session, one.since)]
    idle = msgspec.structs.replace(run[-1], cause="idle", session_end=True, words=(), gaps=())
    segments += [msgspec.structs.replace(idle, index=run[-1].index + more) for more in (1, 2)]


def wipe_marks(segments: list[Segment]) -> None:
    every_word(punctuation="none")(segments)
    every(lambda one: one.sentence_end, sentence_end=False)(segments)


def join_what_a_silence_parts(segments: list[Segment]) -> None:
    """Publish, after a silence, the words before it with those after it."""
    for place, one in enumerate(segments):
        following = next(
            (other for other in segments[place + 1 :] if (other.session, other.since) == (one.session, one.since)), None
        )
        if one.cause == "silence" and not one.sentence_end and following is not None and following.words:
            segments.remove(following)
            joined = msgspec.structs.replace(following, words=(*one.words, *following.words), index=one.index)
            segments[place] = msgspec.structs.replace(joined, first_word=one.first_word, source=one.source)
            return
    raise AssertionError("nobody paused")


def lose_a_segment(segments: list[Segment]) -> None:
    followed = {(one.session, one.since, one.index - 1) for one in segments}
    inner = [place for place, one in enumerate(segments) if (one.session, one.since, one.index) in followed]
    del segments[max(inner, key=lambda place: len(segments[place].words))]


def double_a_segment(segments: list[Segment]) -> None:
    segments.append(segments[longest(segments)])


LOSE_A_WORD = other_words(lambda words: words[:-1])
NUMBER_A_SENTENCE_WRONG = in_the_longest(lambda one: msgspec.structs.replace(one, sentence=one.sentence + 2))


@pytest.mark.parametrize(
    ("kind", "plant"),
    [
        ("lost", lose_the_record_that_ends_a_session),
        ("doubled", double_the_record_that_ends_a_session),
        ("doubled", close_twice_for_idleness),
        ("relabelled", wipe_marks),
        ("relabelled", every_word(disfluency="O")),
        ("relabelled", every_word(start_ms=None, end_ms=None)),
        ("relabelled", every_word(confidence=None)),
        ("relabelled", in_the_longest(plus_one("first_word"))),
        ("relabelled", in_the_longest(plus_one("last_offset", of="source"))),
        ("relabelled", in_the_longest(plus_one("appended_ms", of="timing"))),
        ("lost", every(lambda one: bool(one.gaps), gaps=())),
        ("relabelled", every(lambda one: one.attributes is not None, attributes=None, conversation=None, speaker=None)),
        ("relabelled", every(lambda one: one.cause == "settled" and not one.sentence_end, sentence_end=True)),
        ("relabelled", NUMBER_A_SENTENCE_WRONG),
        ("relabelled", every(lambda one: one.cause in ("sentence", "settled"), cause="silence")),
        ("relabelled", join_what_a_silence_parts),
        ("lost", LOSE_A_WORD),
        ("reordered", other_words(lambda words: (words[1], words[0], *words[2:]))),
        ("lost", lose_a_segment),
        ("gap", lose_a_segment),
        ("doubled", double_a_segment),
        ("foreign", in_the_longest(plus_one("since"))),
    ],
)
def test_each_planted_fault_is_found(kind: str, plant: Plant) -> None:
    assert kind in kinds(planted(a_run()[0], plant))


def other_translations(change: Callable[[list[TranslationSegment]], None]) -> set[str]:
    translations = list(a_run()[0].translations)
    change(translations)
    return kinds(dataclasses.replace(a_run()[0], translations=translations))


def test_a_translation_that_is_lost_or_differs_from_its_segment_is_found() -> None:
    def differ(translations: list[TranslationSegment]) -> None:
        translations[0] = msgspec.structs.replace(translations[0], first_word=translations[0].first_word + 1)

    def lose(translations: list[TranslationSegment]) -> None:
        del translations[next(place for place, one in enumerate(translations) if one.session_end)]

    assert "foreign" in other_translations(differ)
    assert "lost" in other_translations(lose)


def test_a_word_on_a_route_that_was_ended_is_found() -> None:
    output, spoken, _ = a_run()
    ended = next(
        one
        for one in output.segments
        if one.words
        and all(
            "de" not in event.targets
            for event in spoken.runs[one.session, one.since].events
            if event.offset >= one.source.last_offset
        )
    )
    fields = {name: getattr(ended, name) for name in Segment.__struct_fields__}
    sent = TranslationSegment(**fields, target="de", text="", spans=(), previous_index=None)
    assert "foreign" in other_translations(lambda translations: translations.append(sent))


def test_lost_doubled_and_altered_dead_letters_are_found() -> None:
    found = a_run()[0]
    first, *rest = found.letters
    assert "lost" in kinds(dataclasses.replace(found, letters=rest))
    assert "doubled" in kinds(dataclasses.replace(found, letters=[first, first, *rest]))
    assert "foreign" in kinds(dataclasses.replace(found, letters=[first._replace(reason="late"), *rest]))
    assert "foreign" in kinds(dataclasses.replace(found, letters=[first._replace(value=b"another"), *rest]))


def test_an_expected_run_stops_at_the_last_published_piece() -> None:
    said = [SaidWord("\u516c\u56ed", 0, 250, 0.5, 0), SaidWord("\u5f88\u597d", 300, 550, 0.5, 0)]
    first, half, other = said[0], said[1]._replace(text="\u5f88"), said[1]._replace(text="\u597d")
    segment = next(one for one in a_run()[0].segments if one.words)
    pieces = [msgspec.structs.replace(segment.words[0], piece=Piece(start=start, of=2)) for start in (0, 1)]
    begun = [msgspec.structs.replace(segment, words=(segment.words[0], pieces[0]))]
    whole = [msgspec.structs.replace(segment, words=(segment.words[0], *pieces))]
    assert as_far_as(said, [first, half], begun) == [first, half]
    assert as_far_as(said, [first, other], begun) != [first, other]
    assert as_far_as(said, said, whole) == said
    assert as_far_as(said, [first], [segment]) == [first]


PARTITIONS = 2


@functools.cache
def output() -> Output:
    return undisturbed(spoken(7, 12, PARTITIONS), PARTITIONS)


def output_kinds(found: Output) -> set[str]:
    return {kind for kind, count in tally(check(output(), found)).items() if count}


def test_an_undisturbed_run_has_no_violation() -> None:
    assert check(output(), output()) == []


def change_a_mark(segments: list[Segment]) -> None:
    mark = segments[longest(segments)].words[0].punctuation
    first_word(punctuation="comma" if mark == "none" else "none")(segments)


def swap_segments(segments: list[Segment]) -> None:
    first, second, *_ = (place for place, one in enumerate(segments) if one.session == segments[0].session)
    segments[first], segments[second] = segments[second], segments[first]


def sort_by_session(segments: list[Segment]) -> None:
    segments.sort(key=lambda one: one.session)


@pytest.mark.parametrize(
    ("found", "plant"),
    [
        ({"doubled", "reordered"}, double_a_segment),
        ({"lost", "gap"}, lose_a_segment),
        ({"lost", "relabelled"}, LOSE_A_WORD),
        ({"relabelled"}, change_a_mark),
        ({"relabelled"}, NUMBER_A_SENTENCE_WRONG),
        ({"foreign", "relabelled"}, first_word(text="another")),
        ({"reordered"}, swap_segments),
        (set(), sort_by_session),
    ],
)
def test_each_fault_planted_beside_an_undisturbed_run_is_found(found: set[str], plant: Plant) -> None:
    assert output_kinds(planted(output(), plant)) == found


def test_a_lost_translation_is_found_by_its_route_too() -> None:
    found = output()
    assert {"lost", "gap"} <= output_kinds(dataclasses.replace(found, translations=found.translations[1:]))


def test_lost_and_doubled_dead_letters_are_found() -> None:
    found = output()
    first, *rest = found.letters
    assert output_kinds(dataclasses.replace(found, letters=rest)) == {"lost"}
    assert output_kinds(dataclasses.replace(found, letters=[first, first, *rest])) == {"doubled"}


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


class Ruin(ChaosWorld):
    """A world of which nothing was ever started: no Redis, and brokers only where it is said."""

    def __init__(self, *, brokers: bool) -> None:
        super().__init__(Plan(seed=1, faults=0))
        self._brokers_live = brokers

    @override
    def records(self, name: str) -> list[Record]:
        if not self._brokers_live:
            raise KafkaException(KafkaError(KafkaError._ALL_BROKERS_DOWN))
        return []

    @override
    def output(self) -> Output:
        return output_of(self.records("segments"), self.records("de"), self.records("dead"))

    @override
    def kept(self) -> Kept:
        raise StoreError("nobody answers")


def test_where_redis_is_gone_the_output_is_still_checked() -> None:
    complaints: list[str] = []
    left = left_by(Ruin(brokers=True), complaints)
    assert left is not None
    assert left.kept is None
    assert complaints == ["what is kept could not be read, and is not checked: nobody answers"]


def test_a_ruin_without_brokers_reports_that_it_checks_nothing() -> None:
    complaints: list[str] = []
    assert left_by(Ruin(brokers=False), complaints) is None
    (complaint,) = complaints
    assert "nothing is checked" in complaint


def test_an_unreadable_field_is_named_and_the_others_are_checked() -> None:
    fields = {"\udcff": b"\xc1", "ann": b"\x80"}
    kept = Kept(ends={0: 0}, offsets={0: None}, fields={0: fields}, ledger=[])
    findings = Findings("kept")
    assert _stored(kept, findings) == {}
    assert [one.kind for one in findings.found] == ["foreign", "foreign"]
