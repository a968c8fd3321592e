"""Work of sessions goes on behind whatever was raised in it: a caller of the library may catch it and go on."""

from __future__ import annotations

import sys
from types import FrameType

from typing_extensions import override

from caesura.schemas.state import HeldBack, ModelWord
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.language.words import WhitespaceSegmenter, WordSegmenter
from caesura.worker.core.session import session_work
from tests.harness.partition_driver import MARKED, NOW_MS, Driver, event

Words = dict[str, list[tuple[str, str]]]


class Interrupted(BaseException):
    """What Ctrl-C is."""


class _Interrupting:
    """Raises on the k-th line of the work that is run in ``session_work``; not where it is taken out."""

    def __init__(self, at: int) -> None:
        self.lines = 0
        self._at = at

    def trace(self, frame: FrameType, kind: str, _: object) -> object:
        if frame.f_code.co_filename != session_work.__file__ or frame.f_code.co_name == "take_segments":
            return None
        if kind == "line":
            self.lines += 1
            if self.lines == self._at:
                raise Interrupted
        return self.trace


def worked(at: int) -> tuple[Words, int]:
    """Return each session's words and marks where the work was interrupted once, and how many lines there are."""
    driver = Driver(lazy=True, engine=MARKED, rules=DecodingRules(look_ahead_words=0))
    for name in "abc":
        driver.give(event(0, f"{name} so-stop " + "w " * 8, session=name, session_end=True))
    interrupting = _Interrupting(at)
    before = sys.gettrace()
    sys.settrace(interrupting.trace)  # type: ignore[arg-type]
    try:
        driver.work()
    except Interrupted:
        pass
    finally:
        sys.settrace(before)
    driver.work()
    assert not driver.sessions.is_busy
    words: Words = {}
    for segment in driver.segments:
        words.setdefault(segment.session, []).extend((word.text, word.punctuation) for word in segment.words)
    return words, interrupting.lines


def test_work_that_was_interrupted_on_any_line_goes_on_and_gives_every_word_its_own_label() -> None:
    whole, lines = worked(at=0)
    assert {name: len(words) for name, words in whole.items()} == {"a": 10, "b": 10, "c": 10}
    assert lines > 50
    for at in range(1, lines + 1):
        assert worked(at)[0] == whole, f"interrupted on line {at} of {lines}"


class _Refusing(WhitespaceSegmenter):
    @override
    def push(self, units: object) -> list[ModelWord]:
        raise RuntimeError


def test_a_session_that_raises_keeps_no_other_from_being_asked() -> None:
    def segmenters(language: str, held: HeldBack) -> WordSegmenter:
        return _Refusing(held) if language == "xx" else WhitespaceSegmenter(held)

    driver = Driver(lazy=True, segmenters=segmenters)
    driver.give(event(0, "one two three", session="a", lang="xx"))
    driver.give(event(0, "one two three", session="b", utterance_end=True))
    asked: list[str] = []
    for _ in range(2):
        try:
            asked = [one.request.session for one in driver.sessions.waiting(NOW_MS)]
        except RuntimeError:
            continue
    assert asked == ["b"]
