"""Overlapped chunks, split and merged, against the definition and by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from caesura.models.decoding.overlapping_chunks import Chunk, label_chunks, split
from caesura.models.decoding.ways import ahead
from caesura.schemas.labels import Labels
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.core.language.labelling import LabelRequest


def by_place(model: str, words: Sequence[str], position: int, look_ahead_words: int) -> tuple[int, int]:  # noqa: ARG001
    """Label a word by the parity of its place in its chunk: the label says which chunk it came from."""
    return position % 3, position % 2


ENGINE = ScriptedEngine(script=by_place)
MODEL = "scripted-en@1"


def test_of_two_chunks_the_second_has_the_last_ten_of_the_words_they_share() -> None:
    assert split(45) == [Chunk(start=0, end=30, first=0, last=20), Chunk(start=15, end=45, first=20, last=45)]


def test_a_chunk_between_others_keeps_fifteen_words_of_thirty() -> None:
    assert split(60)[1] == Chunk(start=15, end=45, first=20, last=35)


def test_a_text_no_longer_than_a_chunk_is_one_chunk() -> None:
    assert split(30) == [Chunk(start=0, end=30, first=0, last=30)]
    assert split(1) == [Chunk(start=0, end=1, first=0, last=1)]


def test_with_nothing_cut_the_first_chunk_keeps_all_that_is_shared() -> None:
    assert [(chunk.first, chunk.last) for chunk in split(45, min_words_cut=0)] == [(0, 30), (30, 45)]


def test_with_all_of_it_cut_the_second_chunk_keeps_all_that_is_shared() -> None:
    assert [(chunk.first, chunk.last) for chunk in split(45, min_words_cut=15)] == [(0, 15), (15, 45)]


@pytest.mark.parametrize("cut", [-1, 16])
def test_more_than_what_chunks_share_cannot_be_cut(cut: int) -> None:
    with pytest.raises(ValueError, match="min_words_cut"):
        split(45, min_words_cut=cut)


@given(words=st.integers(1, 400), chunk=st.integers(2, 40), data=st.data())
def test_what_the_chunks_keep_is_the_text_once_and_lies_inside_them(
    words: int, chunk: int, data: st.DataObject
) -> None:
    window = data.draw(st.integers((chunk + 1) // 2, chunk))
    cut = data.draw(st.integers(0, chunk - window))
    chunks = split(words, chunk=chunk, window=window, min_words_cut=cut)
    assert [place for part in chunks for place in range(part.first, part.last)] == list(range(words))
    assert all(part.start <= part.first <= part.last <= part.end <= words for part in chunks)


def test_merged_labels_are_those_of_the_chunk_that_keeps_the_word() -> None:
    chunked = label_chunks(ENGINE, MODEL, [str(number) for number in range(45)])
    assert chunked.marks == [place % 3 for place in range(20)] + [(place - 15) % 3 for place in range(20, 45)]
    assert chunked.tags == [place % 2 for place in range(20)] + [(place - 15) % 2 for place in range(20, 45)]


def test_a_word_waits_until_its_chunk_is_full() -> None:
    delays = label_chunks(ENGINE, MODEL, [str(number) for number in range(60)]).delays
    assert delays[0] == 29
    assert delays[19] == 10
    assert delays[20:35] == list(range(24, 9, -1))
    assert delays[59] == 0


def test_a_text_without_words_has_no_labels() -> None:
    assert label_chunks(ENGINE, MODEL, []).marks == []


class WrittenDown(ScriptedEngine):
    """A scripted engine that writes down what it was asked, call by call, and whom it was told to forget."""

    def __init__(self) -> None:
        super().__init__(script=by_place)
        self.calls: list[Sequence[LabelRequest]] = []
        self.forgotten: list[str] = []

    @override
    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        self.calls.append(requests)
        return super().label(requests)

    @override
    def forget(self, session: str) -> None:
        self.forgotten.append(session)


def test_chunks_are_asked_for_many_at_a_time_as_sessions_of_their_own_each_for_what_it_keeps() -> None:
    engine = WrittenDown()
    cut = ahead(9).cut
    assert cut is not None
    done: list[int] = []
    chunked = label_chunks(engine, MODEL, [str(number) for number in range(150)], cut=cut, progress=done.append)
    assert chunked.marks == [min(place, 64) % 3 for place in range(150)]
    assert chunked.labelled_at == [min(place + 10, 150) for place in range(150)]
    assert [len(call) for call in engine.calls] == [64, 64, 22]
    assert done == [64, 64, 22]
    for call in engine.calls:
        assert len({request.session for request in call}) == len(call)
        assert all(len(request.wanted) == 1 for request in call)
    assert engine.forgotten == [request.session for call in engine.calls for request in call]
