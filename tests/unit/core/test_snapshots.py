"""Snapshots: words that are kept as MessagePack from one to the next are those of the session, to the byte."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.schemas.labels import Labels
from caesura.schemas.state import ModelWord, ModelWordPiece, decode_state, encode_state
from caesura.schemas.stored_words import encode_word, word_array
from caesura.worker.core.decoding.buffer import Buffer
from caesura.worker.core.language.words import SegmenterFactory, whitespace_segmenters
from tests.harness.partition_driver import MARKED, Driver, event, pair_segmenters

_WORD = st.text(min_size=1, max_size=40)
_EVENTS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(("so", "uh", "four-stop", "日本", "well-comma", "cut-")), max_size=9),
        st.booleans(),  # the end of an utterance
        st.booleans(),  # a snapshot is taken behind it
        st.booleans(),  # the process ends there, and another goes on
    ),
    min_size=1,
    max_size=30,
)


def _word(*texts: str) -> ModelWord:
    return ModelWord(view="".join(texts).casefold(), pieces=tuple(map(_piece, texts)))


def _piece(text: str) -> ModelWordPiece:
    return ModelWordPiece(
        text=text,
        start_ms=None,
        end_ms=70_000,
        confidence=0.5,
        offset=1 << 40,
        position=0,
        appended_ms=0,
        polled_ms=0,
        unit_start=0,
        unit_length=len(text),
    )


@settings(max_examples=150)
@given(_EVENTS, st.sampled_from((whitespace_segmenters, pair_segmenters)))
def test_a_session_whose_snapshots_were_taken_often_is_stored_as_one_that_is_stored_for_the_first_time(
    said: list[tuple[list[str], bool, bool, bool]], segmenters: SegmenterFactory
) -> None:
    seldom, often = (Driver(engine=MARKED, segmenters=segmenters) for _ in range(2))
    for seq, (words, ends, stored, restarted) in enumerate(said):
        for driver in (seldom, often):
            driver.give(event(seq, " ".join(words), utterance_end=ends))
        if stored:
            often.sessions.snapshots(["s"])
            often.sessions.ledger_states(["s"])
        if restarted:
            often.restart()
    (at_first,), (again,) = (driver.sessions.snapshots(["s"]).values() for driver in (seldom, often))
    assert at_first is not None
    assert again == at_first == encode_state(decode_state(at_first))
    assert often.sessions.ledger_states(["s"]) == seldom.sessions.ledger_states(["s"])


@given(st.lists(st.tuples(st.lists(_WORD, max_size=20), st.integers(0, 20), st.booleans()), max_size=20))
def test_stored_words_are_those_that_the_buffer_has(turns: list[tuple[list[str], int, bool]]) -> None:
    buffer = Buffer()
    for texts, dropped, stored in turns:
        for text in texts:
            buffer.append(_word(text, text[::-1]) if len(text) % 3 else _word(text))
        count = len(buffer)
        buffer.relabel(Labels(punctuation=bytes(count), disfluency=bytes(count)), first=0, look_ahead_words=0)
        if stored:
            buffer.stored_words()
            buffer.lengths()
        buffer.freeze(min(dropped, count), 0)
        buffer.drop(min(dropped, count))
    assert bytes(buffer.stored_words()) == msgspec.msgpack.encode(buffer.words)
    assert buffer.lengths() == tuple(sum(len(piece.text) for piece in word.pieces) for word in buffer.words)


@pytest.mark.parametrize("count", [0, 1, 15, 16, 65_535, 65_536])
def test_an_array_of_any_size_is_one_that_the_codec_writes(count: int) -> None:
    words = [ModelWord(view="a", pieces=())] * count
    assert bytes(word_array([*map(encode_word, words)])) == msgspec.msgpack.encode(words)
