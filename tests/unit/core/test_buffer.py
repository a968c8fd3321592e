"""The buffer: frozen labels stay, tags are made consistent, words leave at the front."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.labels import Disfluency, Labels, Punctuation
from caesura.schemas.state import ModelWord
from caesura.worker.core.decoding.buffer import Buffer


def _buffer(punctuation: list[int], disfluency: list[int] | None = None, *, look_ahead_words: int = 0) -> Buffer:
    buffer = Buffer([ModelWord(view=f"w{place}", pieces=()) for place in range(len(punctuation))])
    labels = Labels(punctuation=bytes(punctuation), disfluency=bytes(disfluency or [0] * len(punctuation)))
    buffer.relabel(labels, first=0, look_ahead_words=look_ahead_words)
    return buffer


tags = st.lists(st.sampled_from(Disfluency), min_size=1, max_size=12)


@given(tags, st.sampled_from(Disfluency))
def test_a_tag_changes_only_where_it_continues_nothing_and_then_it_begins(drawn: list[int], previous: int) -> None:
    buffer = _buffer([0] * len(drawn), drawn)
    buffer.freeze(len(drawn), previous)

    before = previous
    for given_tag, tag in zip(drawn, buffer.labels.disfluency, strict=True):
        inside = given_tag in (Disfluency.I_RM, Disfluency.I_IM)
        orphan = inside and before not in (given_tag, given_tag - 1)
        assert tag == (given_tag - 1 if orphan else given_tag)
        before = tag


@given(tags, st.data())
def test_tags_frozen_bit_by_bit_are_those_frozen_at_once(drawn: list[int], data: st.DataObject) -> None:
    at_once, bit_by_bit = _buffer([0] * len(drawn), drawn), _buffer([0] * len(drawn), drawn)
    last = at_once.freeze(len(drawn), Disfluency.O)
    tag = bit_by_bit.freeze(data.draw(st.integers(0, len(drawn))), Disfluency.O)

    assert bit_by_bit.freeze(len(drawn), tag) == last
    assert bit_by_bit.labels == at_once.labels


def test_a_labelling_passes_over_what_is_frozen() -> None:
    buffer = _buffer([Punctuation.COMMA] * 3, [Disfluency.B_IM] * 3)
    buffer.freeze(2, Disfluency.O)
    buffer.relabel(Labels(punctuation=bytes([2]), disfluency=bytes(1), casing=bytes(1)), first=2, look_ahead_words=0)

    assert buffer.labels.punctuation == bytes([1, 1, 2])
    assert buffer.labels.disfluency == bytes([3, 3, 0])


def test_a_frozen_casing_stays_and_a_labelling_without_one_says_as_given() -> None:
    buffer = _buffer([0, 0, 0])
    buffer.relabel(
        Labels(punctuation=bytes(3), disfluency=bytes(3), casing=bytes([2, 2, 2])), first=0, look_ahead_words=0
    )
    buffer.freeze(1, Disfluency.O)
    buffer.relabel(Labels(punctuation=bytes(2), disfluency=bytes(2), casing=bytes([3, 2])), first=1, look_ahead_words=0)
    assert buffer.labels.casing == bytes([2, 3, 2])

    buffer.relabel(Labels(punctuation=bytes(2), disfluency=bytes(2)), first=1, look_ahead_words=0)
    assert buffer.labels.casing == bytes([2, 0, 0])


def test_a_labelling_of_another_length_is_refused() -> None:
    buffer = _buffer([0, 0])

    for labels in (
        Labels(punctuation=bytes(3), disfluency=bytes(3)),
        Labels(punctuation=bytes(2), disfluency=bytes(1)),
        Labels(punctuation=bytes(2), disfluency=bytes(2), casing=bytes(1)),
    ):
        with pytest.raises(ValueError, match="one label of each kind a word"):
            buffer.relabel(labels, first=0, look_ahead_words=0)


def test_a_labelling_that_leaves_words_out_or_is_of_frozen_words_is_refused() -> None:
    buffer = _buffer([0, 0])
    buffer.append(ModelWord(view="w2", pieces=()))
    buffer.append(ModelWord(view="w3", pieces=()))
    one = Labels(punctuation=bytes(1), disfluency=bytes(1))
    with pytest.raises(ValueError, match="behind the words whose labels are known"):
        buffer.relabel(one, first=3, look_ahead_words=0)
    buffer.freeze(2, Disfluency.O)
    with pytest.raises(ValueError, match="behind the words whose labels are known"):
        buffer.relabel(one, first=1, look_ahead_words=0)


def test_words_behind_a_labelling_have_no_label_and_known_ones_are_settled_or_frozen() -> None:
    buffer = _buffer([0] * 6, look_ahead_words=2)
    assert (buffer.known, buffer.is_labelled) == (4, True)
    buffer.append(ModelWord(view="w6", pieces=()))
    buffer.relabel(Labels(punctuation=bytes([1]), disfluency=bytes(1)), first=4, look_ahead_words=2)
    assert buffer.labels.punctuation == bytes([0, 0, 0, 0, 1])
    assert (buffer.known, buffer.is_labelled) == (5, False)
    buffer.freeze(5, Disfluency.O)
    buffer.drop(1)
    assert (buffer.known, buffer.frozen) == (4, 4), "what is settled is not known any more where the start has moved"


def test_only_frozen_words_leave_and_what_is_left_keeps_its_labels() -> None:
    buffer = _buffer([0, 2, 1, 0], look_ahead_words=1)
    assert buffer.settled == 3
    with pytest.raises(AssertionError):
        buffer.drop(2)

    buffer.freeze(2, Disfluency.O)
    buffer.drop(2)
    assert (buffer.views, buffer.labels.punctuation, buffer.start, buffer.end) == (["w2", "w3"], bytes([1, 0]), 2, 4)
    assert (buffer.frozen, buffer.settled, buffer.is_labelled) == (0, 0, False)


def test_the_last_comma_is_one_that_frees_enough_and_has_enough_after_it() -> None:
    buffer = _buffer([1, 0, 4, 0, 1, 0])

    assert buffer.last_comma(look_ahead_words=2, least=1) == 3
    assert buffer.last_comma(look_ahead_words=1, least=1) == 5
    assert buffer.last_comma(look_ahead_words=4, least=2) is None
