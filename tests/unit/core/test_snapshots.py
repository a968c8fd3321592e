"""Snapshots: words that are kept as MessagePack from one to the next are those of the session, to the byte."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.state import ModelWord, ModelWordPiece, decode_state, encode_state
from schemas.stored_words import StoredWords
from tests.harness.partition_driver import MARKED, Driver, event
from worker.core.buffer import Buffer
from worker.core.labelling import Labels

_WORD = st.text(min_size=1, max_size=40)
_EVENTS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(("so", "uh", "four-stop", "日本", "well-comma")), max_size=9),
        st.booleans(),  # the end of an utterance
        st.booleans(),  # a snapshot is taken behind it
        st.booleans(),  # the process ends there, and another goes on
    ),
    min_size=1,
    max_size=30,
)


def _word(text: str) -> ModelWord:
    piece = ModelWordPiece(
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
    return ModelWord(view=text.casefold(), pieces=(piece,))


@settings(max_examples=150)
@given(_EVENTS)
def test_a_session_whose_snapshots_were_taken_often_is_stored_as_one_that_is_stored_for_the_first_time(
    said: list[tuple[list[str], bool, bool, bool]],
) -> None:
    seldom, often = Driver(engine=MARKED), Driver(engine=MARKED)
    for seq, (words, ends, stored, restarted) in enumerate(said):
        for driver in (seldom, often):
            driver.give(event(seq, " ".join(words), utterance_end=ends))
        if stored:
            often.sessions.snapshots(["s"])
        if restarted:
            often.restart()
    (at_first,), (again,) = (driver.sessions.snapshots(["s"]).values() for driver in (seldom, often))
    assert at_first is not None
    assert again == at_first == encode_state(decode_state(at_first))


@given(st.lists(st.tuples(st.lists(_WORD, max_size=20), st.integers(0, 20), st.booleans()), max_size=20))
def test_stored_words_are_those_that_the_buffer_has(turns: list[tuple[list[str], int, bool]]) -> None:
    buffer = Buffer()
    for texts, dropped, stored in turns:
        for text in texts:
            buffer.append(_word(text))
        count = len(buffer)
        buffer.relabel(Labels(punctuation=bytes(count), disfluency=bytes(count)), first=0, look_ahead_words=0)
        if stored:
            buffer.stored_words()
        buffer.freeze(min(dropped, count), 0)
        buffer.drop(min(dropped, count))
    assert bytes(buffer.stored_words()) == msgspec.msgpack.encode(buffer.words)


@pytest.mark.parametrize("count", [0, 1, 15, 16, 65_535, 65_536])
def test_an_array_of_any_size_is_one_that_the_codec_writes(count: int) -> None:
    words, stored = [ModelWord(view="a", pieces=())] * count, StoredWords()
    stored.add(words)
    assert bytes(stored.array()) == msgspec.msgpack.encode(words)
    stored.drop(count)
    assert bytes(stored.array()) == b"\x90"
