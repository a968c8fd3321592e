"""A recogniser's stream that begins anew, its times and numbers at nought again: each word once, in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.feeds.spoken import Message, fed, texts

_WORDS = st.lists(st.sampled_from(["yes", "no", "so", "we"]), min_size=1, max_size=4)
_STREAMS = st.lists(st.lists(_WORDS, min_size=1, max_size=4), min_size=2, max_size=4)


def _timed(said: list[str], at: int) -> list[dict[str, object]]:
    return [{"word": word, "start": at * 5 + place + 1, "end": at * 5 + place + 1.5} for place, word in enumerate(said)]


def _aws(stream: int, at: int, said: list[str]) -> Message:
    items = [
        {"Type": "pronunciation", "Content": one["word"], "StartTime": one["start"], "EndTime": one["end"]}
        for one in _timed(said, at)
    ]
    result = {
        "ResultId": f"{stream}-{at}",
        "IsPartial": False,
        "EndTime": at * 5 + 5,
        "Alternatives": [{"Items": items}],
    }
    return {"Transcript": {"Results": [result]}}


def _whisper(stream: int, at: int, said: list[str]) -> Message:
    segment = {"start": str(at * 5 + 1.0), "end": str(at * 5 + 4.0), "text": " ".join(said), "completed": True}
    return {"uid": str(stream), "segments": [segment]}


def _soniox(_: int, at: int, said: list[str]) -> Message:
    tokens = [
        {
            "text": f" {one['word']}",
            "start_ms": round(float(str(one["start"])) * 1000),
            "end_ms": round(float(str(one["end"])) * 1000),
            "is_final": True,
        }
        for one in _timed(said, at)
    ]
    return {"tokens": [*tokens, {"text": "<end>", "is_final": True}], "total_audio_proc_ms": at * 5000 + 5000}


FINALS: Mapping[str, Callable[[int, int, list[str]], Message]] = {
    "vosk": lambda _, at, said: {"text": " ".join(said), "result": _timed(said, at)},
    "azure": lambda _, at, said: {
        "RecognitionStatus": "Success",
        "Offset": at * 50_000_000,
        "Duration": 40_000_000,
        "NBest": [{"Lexical": " ".join(said)}],
    },
    "aws": _aws,
    "whisper": _whisper,
    "soniox": _soniox,
    "elevenlabs": lambda _, at, said: {
        "message_type": "committed_transcript_with_timestamps",
        "text": " ".join(said),
        "words": [{"text": one["word"], "type": "word", **one} for one in _timed(said, at)],
    },
    "speechmatics": lambda _, at, said: {
        "message": "AddTranscript",
        "metadata": {"start_time": at * 5, "end_time": at * 5 + 5},
        "results": [
            {
                "type": "word",
                "start_time": one["start"],
                "end_time": one["end"],
                "alternatives": [{"content": one["word"]}],
            }
            for one in _timed(said, at)
        ],
    },
    "deepgram": lambda _, at, said: {
        "type": "Results",
        "is_final": True,
        "start": at * 5,
        "duration": 5,
        "channel": {"alternatives": [{"words": _timed(said, at)}]},
    },
    "assemblyai": lambda _, at, said: {
        "type": "Turn",
        "turn_order": at,
        "end_of_turn": True,
        "words": [
            {"text": word, "start": at * 5000 + place * 1000, "end": at * 5000 + place * 1000 + 500}
            for place, word in enumerate(said)
        ],
    },
}
BEGINNINGS: Mapping[str, Message] = {"assemblyai": {"type": "Begin", "id": "a", "expires_at": 1}}
STARTS: Mapping[str, Message] = {
    **BEGINNINGS,
    "elevenlabs": {"message_type": "session_started", "session_id": "a"},
    "speechmatics": {"message": "RecognitionStarted", "id": "a"},
}


@pytest.mark.parametrize(
    ("name", "starts"), [*((name, BEGINNINGS) for name in FINALS), ("elevenlabs", STARTS), ("speechmatics", STARTS)]
)
@settings(max_examples=30)
@given(streams=_STREAMS)
def test_each_word_of_streams_that_begin_anew_is_sent_once(
    name: str, starts: Mapping[str, Message], streams: list[list[list[str]]]
) -> None:
    messages: list[Message] = []
    for number, utterances in enumerate(streams):
        messages += [starts[name]] if name in starts else []
        several = [*utterances, ["so"]] * 2  # so many that the next stream's times go back
        messages += [FINALS[name](number, at, said) for at, said in enumerate(several)]
    events = fed(name, messages)
    assert len({event.epoch for event in events if event.words}) == len(streams)
    assert texts(events) == [word for utterances in streams for said in [*utterances, ["so"]] * 2 for word in said]
