"""Ctrl-C in the middle of a turn: what was said is not lost, and what has ended is said."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import caesura
from caesura.model import Model
from caesura.worker.core.language.labelling import LabelRequest
from tests.harness.engines import FaultyEngine


class Interrupted(FaultyEngine):
    """Is interrupted at its first batch."""

    def __init__(self) -> None:
        super().__init__(self._interrupt)
        self._interrupts = [KeyboardInterrupt()]

    def _interrupt(self, requests: Sequence[LabelRequest]) -> None:
        if requests and self._interrupts:
            raise self._interrupts.pop()


def texts(segments: list[caesura.Segment]) -> list[str]:
    return [word.text for segment in segments for word in segment.words]


def test_what_froze_in_a_turn_that_was_interrupted_comes_with_the_sessions_next_words() -> None:
    many = Model(Interrupted())
    one, other = many.session(), many.session()
    spoken = [f"w{number}" for number in range(60)]
    with pytest.raises(KeyboardInterrupt):
        one.feed(spoken)
    other.feed("hello")
    assert texts([*one.feed("more"), *one.end()]) == [*spoken, "more"]


def test_an_end_that_was_interrupted_can_be_asked_for_again_and_takes_no_words_before() -> None:
    session = Model(Interrupted()).session()
    frozen = session.feed("one two")
    with pytest.raises(KeyboardInterrupt):
        session.end()
    with pytest.raises(ValueError, match="has ended"):
        session.feed("three")
    assert texts([*frozen, *session.end()]) == ["one", "two"]
    with pytest.raises(ValueError, match="has ended"):
        session.end()
