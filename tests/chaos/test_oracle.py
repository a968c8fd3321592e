"""The oracle says nothing of a run that is in order, timers and all, and finds each bug that is planted in one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import msgspec
import pytest

from caesura.schemas.segments import Piece, Segment, TranslationSegment
from tests.chaos.kept import check_kept
from tests.chaos.oracle import as_far_as, check_said
from tests.chaos.ordered_run import a_run
from tests.chaos.said import SaidWord
from tests.chaos.timed import TIMERS
from tests.harness.checker import Output, tally


def kinds(found: Output) -> set[str]:
    return {kind for kind, count in tally(check_said(a_run()[1], found, TIMERS)).items() if count}


def with_segments(change: Callable[[list[Segment]], None]) -> Output:
    segments = list(a_run()[0].segments)
    change(segments)
    return dataclasses.replace(a_run()[0], segments=segments)


def replaced(segments: list[Segment], which: Callable[[Segment], bool], **fields: object) -> None:
    """Change every segment that is asked for; there is one."""
    places = [place for place, one in enumerate(segments) if which(one)]
    assert places
    for place in places:
        segments[place] = msgspec.structs.replace(segments[place], **fields)


def words_replaced(segments: list[Segment], **fields: object) -> None:
    for place, one in enumerate(segments):
        words = tuple(msgspec.structs.replace(word, **fields) for word in one.words)
        segments[place] = msgspec.structs.replace(one, words=words)


def longest(segments: list[Segment]) -> int:
    return max(range(len(segments)), key=lambda place: len(segments[place].words))


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
    words_replaced(segments, punctuation="none")
    replaced(segments, lambda one: one.sentence_end, sentence_end=False)


def wipe_tags(segments: list[Segment]) -> None:
    words_replaced(segments, disfluency="O")


def wipe_times(segments: list[Segment]) -> None:
    words_replaced(segments, start_ms=None, end_ms=None)


def wipe_confidence(segments: list[Segment]) -> None:
    words_replaced(segments, confidence=None)


def shift_first_word(segments: list[Segment]) -> None:
    place = longest(segments)
    segments[place] = msgspec.structs.replace(segments[place], first_word=segments[place].first_word + 1)


def wipe_gaps(segments: list[Segment]) -> None:
    replaced(segments, lambda one: bool(one.gaps), gaps=())


def wipe_what_passes_through(segments: list[Segment]) -> None:
    replaced(segments, lambda one: one.attributes is not None, attributes=None, conversation=None, speaker=None)


def shift_a_source(segments: list[Segment]) -> None:
    place = longest(segments)
    source = segments[place].source
    segments[place] = msgspec.structs.replace(
        segments[place], source=msgspec.structs.replace(source, last_offset=source.last_offset + 1)
    )


def stamp_with_another_time(segments: list[Segment]) -> None:
    place = longest(segments)
    timing = msgspec.structs.replace(segments[place].timing, appended_ms=segments[place].timing.appended_ms + 1)
    segments[place] = msgspec.structs.replace(segments[place], timing=timing)


def call_a_sentence_ended(segments: list[Segment]) -> None:
    replaced(segments, lambda one: one.cause == "settled" and not one.sentence_end, sentence_end=True)


def number_a_sentence_wrong(segments: list[Segment]) -> None:
    place = longest(segments)
    segments[place] = msgspec.structs.replace(segments[place], sentence=segments[place].sentence + 2)


def call_a_pause_a_silence(segments: list[Segment]) -> None:
    replaced(segments, lambda one: one.cause in ("sentence", "settled"), cause="silence")


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


def lose_a_word(segments: list[Segment]) -> None:
    place = longest(segments)
    segments[place] = msgspec.structs.replace(segments[place], words=segments[place].words[:-1])


def turn_two_words(segments: list[Segment]) -> None:
    place = longest(segments)
    first, second, *rest = segments[place].words
    segments[place] = msgspec.structs.replace(segments[place], words=(second, first, *rest))


def lose_a_segment(segments: list[Segment]) -> None:
    followed = {(one.session, one.since, one.index - 1) for one in segments}
    inner = [place for place, one in enumerate(segments) if (one.session, one.since, one.index) in followed]
    del segments[max(inner, key=lambda place: len(segments[place].words))]


def double_a_segment(segments: list[Segment]) -> None:
    segments.append(segments[longest(segments)])


def begin_a_session_anew(segments: list[Segment]) -> None:
    place = longest(segments)
    segments[place] = msgspec.structs.replace(segments[place], since=segments[place].since + 1)


@pytest.mark.parametrize(
    ("plant", "kind"),
    [
        (lose_the_record_that_ends_a_session, "lost"),
        (double_the_record_that_ends_a_session, "doubled"),
        (close_twice_for_idleness, "doubled"),
        (wipe_marks, "relabelled"),
        (wipe_tags, "relabelled"),
        (wipe_times, "relabelled"),
        (wipe_confidence, "relabelled"),
        (shift_first_word, "relabelled"),
        (wipe_gaps, "lost"),
        (wipe_what_passes_through, "relabelled"),
        (shift_a_source, "relabelled"),
        (stamp_with_another_time, "relabelled"),
        (call_a_sentence_ended, "relabelled"),
        (number_a_sentence_wrong, "relabelled"),
        (call_a_pause_a_silence, "relabelled"),
        (join_what_a_silence_parts, "relabelled"),
        (lose_a_word, "lost"),
        (turn_two_words, "reordered"),
        (lose_a_segment, "lost"),
        (lose_a_segment, "gap"),
        (double_a_segment, "doubled"),
        (begin_a_session_anew, "foreign"),
    ],
    ids=lambda one: getattr(one, "__name__", one),
)
def test_what_is_planted_is_found(plant: Callable[[list[Segment]], None], kind: str) -> None:
    assert kind in kinds(with_segments(plant))


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


def test_a_run_that_was_broken_off_between_two_pieces_of_a_unit_came_out_as_far_as_it_came() -> None:
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
