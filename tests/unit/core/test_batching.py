"""Batches: everybody once, oldest first, bounded, little padding, floods last."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.session.batching import FLOOD_WORDS, BatchLimits, PendingLabels, form_batches

LIMITS = BatchLimits(max_sessions=4, max_words=150)


def _pending(name: int, words: int, since_ms: int, queued_words: int = 0) -> PendingLabels:
    request = LabelRequest(session=f"s{name}", model_id="m@1", buffer_start=0, words=("w",) * words)
    return PendingLabels(partition=0, request=request, waiting_since_ms=since_ms, queued_words=queued_words)


waiting = st.lists(
    st.tuples(st.integers(1, 120), st.integers(0, 50), st.sampled_from([0, 0, FLOOD_WORDS, FLOOD_WORDS + 1])),
    max_size=40,
).map(lambda drawn: [_pending(name, *one) for name, one in enumerate(drawn)])


@given(waiting)
def test_everybody_is_in_one_batch_once(pending: list[PendingLabels]) -> None:
    batched = [one.request.session for batch in form_batches(pending, LIMITS) for one in batch]

    assert sorted(batched) == sorted(one.request.session for one in pending)


@given(waiting)
def test_batches_are_bounded_in_sessions_and_in_words_and_no_two_neighbours_fit_into_one(
    pending: list[PendingLabels],
) -> None:
    batches = form_batches(pending, LIMITS)
    for batch in batches:
        assert len(batch) <= LIMITS.max_sessions
        assert len(batch) == 1 or sum(len(one.request.words) for one in batch) <= LIMITS.max_words
    for batch, following in pairwise(batches):
        more = [*batch, following[0]]
        assert len(more) > LIMITS.max_sessions or sum(len(one.request.words) for one in more) > LIMITS.max_words


@given(waiting)
def test_each_batch_begins_with_the_one_that_has_waited_longest_and_floods_come_after_all_others(
    pending: list[PendingLabels],
) -> None:
    batches = form_batches(pending, LIMITS)
    left = list(pending)
    for batch in batches:
        first = min(left, key=lambda one: (one.queued_words > FLOOD_WORDS, one.waiting_since_ms))
        key = (batch[0].queued_words > FLOOD_WORDS, batch[0].waiting_since_ms)
        assert key == (first.queued_words > FLOOD_WORDS, first.waiting_since_ms)
        left = [one for one in left if one not in batch]


def test_buffers_of_any_length_share_a_batch_in_the_order_in_which_they_wait() -> None:
    pending = [_pending(0, 20, 3), _pending(1, 100, 2), _pending(2, 21, 1), _pending(3, 21, 4)]

    batches = [[one.request.session for one in batch] for batch in form_batches(pending, LIMITS)]
    assert batches == [["s2", "s1", "s0"], ["s3"]]
