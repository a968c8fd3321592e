"""Ways to label a whole text: how each cuts it, and what the engine is shown."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.models.decoding.labelling_runs import label_offline
from caesura.models.decoding.overlapping_chunks import Chunk
from caesura.models.decoding.ways import OFFLINE, STREAMING, ahead
from caesura.worker.adapters.memory.engine import ScriptedEngine

TEXT = [f"word{number}" for number in range(90)]


def test_offline_the_edges_of_a_chunk_are_context_only() -> None:
    assert OFFLINE.cut is not None
    assert OFFLINE.cut(500)[1] == Chunk(start=150, end=350, first=185, last=335)


def test_a_stream_is_not_cut() -> None:
    assert STREAMING.cut is None


@pytest.mark.parametrize("known", [0, 2, 9])
def test_ahead_each_word_is_labelled_with_so_many_known_after_it_and_64_before(known: int) -> None:
    seen: list[tuple[str, str, str]] = []

    def note(model: str, words: Sequence[str], position: int, look_ahead_words: int) -> tuple[int, int]:  # noqa: ARG001
        if position == len(words) - 1 - known or words[-1] == TEXT[-1]:
            seen.append((words[0], words[position], words[-1]))
        return int(words[position][4:]) % 3, 0

    engine = ScriptedEngine(script=note)
    cut = ahead(known).cut
    assert cut is not None
    marks, _ = label_offline(engine, engine.models[0].name, TEXT, cut=cut)
    assert marks == [number % 3 for number in range(90)]
    for place, word in enumerate(TEXT[: 90 - known]):
        assert (TEXT[max(place - 64, 0)], word, TEXT[place + known]) in seen


@given(known=st.integers(0, 12), words=st.integers(0, 150))
def test_ahead_keeps_each_word_once_in_order(known: int, words: int) -> None:
    cut = ahead(known).cut
    assert cut is not None
    chunks = cut(words)
    assert [place for chunk in chunks for place in range(chunk.first, chunk.last)] == list(range(words))
    assert all(0 <= chunk.start <= chunk.first < chunk.last <= chunk.end <= words for chunk in chunks)
