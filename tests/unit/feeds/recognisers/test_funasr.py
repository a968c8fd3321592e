"""FunASR's messages, in shapes written after its documentation, as words that are never revised."""

from __future__ import annotations

from itertools import chain

import pytest

from caesura.worker.feeds.recognisers.funasr import FunAsr
from tests.unit.feeds.spoken import Message, fed, texts, timed, told_apart


def funasr(mode: str, text: str, stamps: str | None = None) -> dict[str, object]:
    return {"mode": mode, "wav_name": "w", "text": text, "is_final": False} | ({"timestamp": stamps} if stamps else {})


def test_funasrs_second_pass_is_what_counts() -> None:
    said: list[Message] = [
        funasr("2pass-online", "今天"),
        funasr("2pass-online", "天汽"),
        funasr("2pass-offline", "今天天气, good。", "[[100,200],[200,300],[300,400],[400,500],[600,900]]"),
        funasr("2pass-online", "再见"),
    ]
    events = fed("funasr", said)
    assert told_apart("funasr", said)
    assert timed(events)[:5] == [
        ("今", 100, 200),
        ("天", 200, 300),
        ("天", 300, 400),
        ("气", 400, 500),
        ("good", 600, 900),
    ]
    assert texts(events)[5:] == ["再", "见"], "what no second pass came for is not lost"


def test_funasrs_online_pieces_are_final_as_they_come() -> None:
    events = fed("funasr", [funasr("online", "今天"), funasr("online", "好")])
    assert [texts([event]) for event in events] == [["今", "天"], ["好"], []]


def test_funasrs_numbers_written_as_digits_lose_their_times_not_their_words() -> None:
    said = [funasr("2pass-offline", "2024年", "[[0,100],[100,200],[200,300],[300,400],[400,500]]")]
    assert timed(fed("funasr", said)) == [("2024", None, None), ("年", None, None)]


@pytest.mark.parametrize("text", ["", "ERROR. ONLY SUPPORT PCM stream."])
def test_the_end_that_funasr_tells_without_a_mode_takes_no_piece(text: str) -> None:
    end = {"text": text, "wav_name": "w", "is_final": True}
    said = [funasr("2pass-online", "今天"), funasr("2pass-online", "好"), end]
    assert texts(fed("funasr", said)) == ["今", "天", "好"]


def test_sensevoices_tags_are_no_words() -> None:
    said = [funasr("2pass-offline", "<|zh|><|NEUTRAL|><|Speech|><|woitn|>今天 good", "[[0,100],[100,200],[200,300]]")]
    assert timed(fed("funasr", said)) == [("今", 0, 100), ("天", 100, 200), ("good", 200, 300)]


def test_pieces_of_funasrs_that_no_second_pass_ends_go_out_before_they_are_many() -> None:
    said = [f"w{number}" for number in range(5000)]
    reader = FunAsr()
    hypotheses = list(chain.from_iterable(reader.read(funasr("2pass-online", word)) for word in said))
    hypotheses += reader.finish()
    assert max(len(one.words) for one in hypotheses) < 1100
    assert [word.text for one in hypotheses if one.final for word in one.words] == said
