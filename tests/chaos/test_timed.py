"""The checker of timed runs passes over labels and cuts, and over nothing else."""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Callable

import msgspec
import pytest

from schemas.segments import Segment
from tests.chaos.checker import Output, tally
from tests.chaos.reference import undisturbed
from tests.chaos.spoken import spoken
from tests.chaos.timed import check_timed


@functools.cache
def output() -> Output:
    return undisturbed(spoken(7, 12, 2), 2)


def kinds(segments: list[Segment]) -> set[str]:
    found = dataclasses.replace(output(), segments=segments)
    return {kind for kind, count in tally(check_timed(output(), found)).items() if count}


def test_other_labels_and_other_cuts_are_no_violation() -> None:
    cut: list[Segment] = []
    indexes: Counter[tuple[str, int]] = Counter()
    for one in output().segments:
        for word in one.words:
            run = (one.session, one.since)
            bare = msgspec.structs.replace(word, punctuation="comma")
            cut.append(msgspec.structs.replace(one, words=(bare,), index=indexes[run]))
            indexes[run] += 1
    assert len(cut) > 2 * len(output().segments)
    assert kinds(cut) == set()


def lose_a_word(segments: list[Segment]) -> None:
    place = max(range(len(segments)), key=lambda number: len(segments[number].words))
    segments[place] = msgspec.structs.replace(segments[place], words=segments[place].words[:-1])


def turn_two_words(segments: list[Segment]) -> None:
    place = max(range(len(segments)), key=lambda number: len(segments[number].words))
    first, second, *rest = segments[place].words
    segments[place] = msgspec.structs.replace(segments[place], words=(second, first, *rest))


def lose_a_segment(segments: list[Segment]) -> None:
    del segments[next(place for place, one in enumerate(segments) if one.words)]


def double_a_segment(segments: list[Segment]) -> None:
    segments.append(segments[-1])


def say_a_segments_words_again(segments: list[Segment]) -> None:
    last = max((one for one in segments if one.words), key=lambda one: one.index)
    after = max(one.index for one in segments if (one.session, one.since) == (last.session, last.since)) + 1
    segments.append(msgspec.structs.replace(last, index=after))


def swap_two_segments(segments: list[Segment]) -> None:
    places = [place for place, one in enumerate(segments) if one.session == segments[0].session]
    segments[places[0]], segments[places[1]] = segments[places[1]], segments[places[0]]


@pytest.mark.parametrize(
    ("plant", "kind"),
    [
        (lose_a_word, "lost"),
        (turn_two_words, "reordered"),
        (lose_a_segment, "lost"),
        (lose_a_segment, "gap"),
        (double_a_segment, "doubled"),
        (say_a_segments_words_again, "doubled"),
        (swap_two_segments, "reordered"),
    ],
)
def test_what_a_timer_may_not_change_is_found(plant: Callable[[list[Segment]], None], kind: str) -> None:
    segments = list(output().segments)
    plant(segments)
    assert kind in kinds(segments)


def test_a_lost_translation_and_a_lost_dead_letter_are_found() -> None:
    found = dataclasses.replace(output(), translations=output().translations[1:], letters=output().letters[1:])
    assert [one.where for one in check_timed(output(), found) if one.kind == "lost"] == ["route", "dead letters"]
