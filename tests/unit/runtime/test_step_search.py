"""How a step is found that cannot be committed, and what becomes of it."""

from __future__ import annotations

import pytest

from caesura.schemas.segments import SegmentWord, Source
from caesura.worker.core.decoding.context import NO_LIMIT
from caesura.worker.errors import ContentRefusedError, OwnFaultError
from caesura.worker.ports.reasons import ParkReason
from caesura.worker.ports.records import OutMessage
from caesura.worker.runtime.retries.step_search import FailedSteps, StepSearch
from tests.harness.segments import a_segment

_DEAD = "asr.words.dead"


def _refusal(topic: str = "asr.segments") -> ContentRefusedError:
    return ContentRefusedError("too large", topic=topic, partition=0, value=b"")


def _failed(steps: int = 1, record: int | None = 7, *, is_rebuilt: bool = False) -> FailedSteps:
    return FailedSteps(steps=steps, record=record, is_rebuilt=is_rebuilt)


def _message(words: int, first_offset: int = 7) -> OutMessage:
    source = Source(topic="asr.words", partition=0, first_offset=first_offset, last_offset=7)
    word = SegmentWord(text="a", punctuation="none", disfluency="O")
    segment = a_segment([word] * words, source=source)
    return OutMessage(topic="asr.segments", partition=0, key=b"", value=b"", segment=segment)


def _refuse(search: StepSearch, failed: FailedSteps, message: OutMessage | None = None) -> ParkReason | None:
    return search.refused(_refusal(), message, failed, dead_letter_topic=_DEAD)


def test_each_refusal_halves_the_steps_and_each_commit_doubles_them() -> None:
    search = StepSearch()
    for steps, most in [(11, 5), (5, 2), (2, 1)]:
        assert _refuse(search, _failed(steps)) is None
        assert search.most_steps == most
    assert search.given_up == set()
    for _ in range(13):
        search.committed(8)
    assert search.most_steps == NO_LIMIT


def test_a_refused_segment_is_split_before_its_record_is_given_up() -> None:
    search = StepSearch()
    for words in (9, 4, 2):
        assert _refuse(search, _failed(), _message(words)) is None
        assert search.limit.words == words // 2
    assert search.given_up == set()
    assert _refuse(search, _failed(), _message(1)) is None
    assert (search.given_up, search.limit.words) == ({7}, NO_LIMIT)


def test_where_it_is_not_known_what_was_refused_no_record_is_given_up() -> None:
    search = StepSearch()
    assert _refuse(search, _failed()) is ParkReason.FLUSH_FAILS
    assert search.given_up == set()


def test_what_was_refused_in_a_batch_is_tried_again_before_anything_is_blamed() -> None:
    search, error = StepSearch(), _refusal()
    error.in_batch = True
    for message in (None, _message(1), _message(9)):
        assert search.refused(error, message, _failed(), dead_letter_topic=_DEAD) is None
    assert (search.given_up, search.limit.words, search.most_steps) == (set(), NO_LIMIT, 1)


def test_words_that_were_committed_before_make_no_record_a_dead_letter() -> None:
    search = StepSearch()
    assert _refuse(search, _failed(), _message(1, first_offset=6)) is ParkReason.FLUSH_FAILS
    assert search.given_up == set()


@pytest.mark.parametrize(("is_rebuilt", "reason"), [(False, ParkReason.FLUSH_FAILS), (True, ParkReason.REBUILD_FAILS)])
def test_a_step_that_is_no_record_parks(reason: ParkReason, *, is_rebuilt: bool) -> None:
    assert _refuse(StepSearch(), _failed(record=None, is_rebuilt=is_rebuilt), _message(1)) is reason


def test_a_dead_letter_that_is_refused_goes_bare_and_then_parks() -> None:
    search = StepSearch()
    for parks in (None, ParkReason.FLUSH_FAILS):
        assert search.refused(_refusal(_DEAD), None, _failed(), dead_letter_topic=_DEAD) is parks
        assert search.bare_letters
    search.committed(8)
    assert not search.bare_letters


def test_a_step_that_raises_alone_goes_unlabelled_then_its_record_goes() -> None:
    search, error = StepSearch(), OwnFaultError("KeyError", partition=0)
    assert search.raised(error, _failed(4)) is None
    assert (search.unlabelled, search.most_steps) == (False, 2)
    assert search.raised(error, _failed()) is None
    assert (search.unlabelled, search.given_up) == (True, set())
    assert search.raised(error, _failed()) is None
    assert (search.given_up, search.unlabelled) == ({7}, False)
    assert search.raised(error, _failed()) is None
    assert search.raised(error, _failed()) is ParkReason.FLUSH_FAILS
    search.committed(8)
    assert (search.given_up, search.unlabelled) == (set(), False)


def test_a_record_that_raises_where_it_is_applied_is_given_up_at_once() -> None:
    search = StepSearch()
    assert search.raised(OwnFaultError("KeyError", partition=0, record=9), _failed(4)) is None
    assert (search.given_up, search.most_steps) == ({9}, NO_LIMIT)
