"""Deepgram's messages, in shapes written after its documentation, as words that are never revised."""

from __future__ import annotations

from tests.unit.feeds.spoken import Message, fed, texts, timed, told_apart


def deepgram(
    said: str, *, start: float = 0.0, final: bool = False, pause: bool = False, request: str = "r1", **more: object
) -> dict[str, object]:
    parts = said.split()
    return {
        "type": "Results",
        "channel_index": [0, 1],
        "start": start,
        "duration": 1.0,
        "is_final": final,
        "speech_final": pause,
        "channel": {
            "alternatives": [
                {
                    "transcript": said,
                    "confidence": 0.9,
                    "words": [
                        {
                            "word": word,
                            "punctuated_word": word.capitalize() + ",",
                            "start": start + 0.1 * number,
                            "end": start + 0.1 * number + 0.08,
                            "confidence": 0.98,
                        }
                        for number, word in enumerate(parts)
                    ],
                }
            ]
        },
        "metadata": {"request_id": request},
    } | more


def test_deepgrams_finals_are_the_words_and_a_pause_is_another_thing() -> None:
    said: list[Message] = [
        deepgram("so um", start=0.0),
        deepgram("so um yes", start=0.0, final=True),
        deepgram("we", start=1.0),
        deepgram("we do", start=1.0, final=True, pause=True),
        {"type": "UtteranceEnd", "channel": [0, 1], "last_word_end": 1.2},
        {"type": "Metadata", "request_id": "r1"},
    ]
    events = fed("deepgram", said, agreement=0)
    assert told_apart("deepgram", said)
    assert timed(events) == [("so", 0, 80), ("um", 100, 180), ("yes", 200, 280), ("we", 1000, 1080), ("do", 1100, 1180)]
    assert [event.utterance_end for event in events] == [False, True, True, False]
    assert events[0].heard_until_ms == 1000


def test_deepgrams_words_go_out_before_their_final_once_three_hypotheses_agree() -> None:
    said = [deepgram("so um"), deepgram("so um yes"), deepgram("so um yes we"), deepgram("so um yes we do", final=True)]
    events = fed("deepgram", said)
    assert [texts([event]) for event in events] == [["so", "um"], ["yes", "we", "do"], []]


def test_deepgrams_early_final_says_no_word_twice() -> None:
    said = [
        *(deepgram(one, duration=3.0) for one in ("is that they", "is that they they", "is that they they are")),
        *(deepgram(f"is that they they are {one}", duration=3.5) for one in ("blown", "blown away")),
        deepgram("is that they", final=True, duration=2.4),
        deepgram("they are blown", start=2.4),
        deepgram("they are blown away", start=2.4, final=True),
    ]
    assert texts(fed("deepgram", said)) == ["is", "that", "they", "they", "are", "blown", "away"]


def test_a_word_taken_back_by_a_final_costs_no_later_word() -> None:
    said = [
        *(deepgram(one, duration=3.0) for one in ("so we go", "so we go to", "so we go to the")),
        deepgram("so we", final=True, duration=2.4),
        deepgram("um yes", start=3.0, final=True),
    ]
    assert texts(fed("deepgram", said)) == ["so", "we", "go", "um", "yes"]


def test_deepgrams_early_finals_in_a_row_say_no_word_twice() -> None:
    said = [
        *(deepgram(one, duration=4.0) for one in ("so we go to", "so we go to the", "so we go to the sea")),
        deepgram("so we", final=True, duration=1.0),
        deepgram("", start=1.0, final=True, duration=0.5),
        deepgram("go", start=1.5, final=True, duration=0.5),
        deepgram("to the sea", start=2.0, final=True, duration=2.0),
    ]
    assert texts(fed("deepgram", said)) == ["so", "we", "go", "to", "the", "sea"]


def test_a_word_taken_back_by_deepgrams_final_is_new_when_said_later() -> None:
    said = [
        *(deepgram(one, duration=3.0) for one in ("so no no", "so no no no", "so no no no wait")),
        deepgram("so no", final=True, duration=2.4),
        deepgram("no problem", start=9.0, final=True),
    ]
    assert texts(fed("deepgram", said)) == ["so", "no", "no", "no", "problem"]


def test_deepgrams_channels_and_speakers_have_sessions_of_their_own() -> None:
    two = [
        deepgram("hello there", final=True) | {"channel_index": [0, 2]},
        deepgram("good day", final=True) | {"channel_index": [1, 2]},
    ]
    events = fed("deepgram", two)
    assert (texts(events, "s/0"), texts(events, "s/1")) == (["hello", "there"], ["good", "day"])
    diarised = deepgram("you me", final=True)
    for number, word in enumerate(diarised["channel"]["alternatives"][0]["words"]):  # type: ignore[index]
        word["speaker"] = number
    events = fed("deepgram", [diarised])
    assert (texts(events, "s/0"), texts(events, "s/1")) == (["you"], ["me"])


def test_a_new_connection_of_deepgrams_is_a_new_epoch_and_its_times_go_on() -> None:
    events = fed("deepgram", [deepgram("one", final=True), deepgram("two", final=True, request="r2")])
    assert [(event.epoch, event.seq) for event in events] == [(3, 0), (4, 0), (4, 1)]
    assert timed(events) == [("one", 0, 80), ("two", 1000, 1080)]


def turn(event: str, number: int, said: str, *, until: float, times: bool = True) -> dict[str, object]:
    words = [{"word": word, "confidence": 0.9} for word in said.split()]
    return {
        "type": "TurnInfo",
        "request_id": "r1",
        "event": event,
        "turn_index": number,
        "audio_window_start": 0.0,
        "audio_window_end": until,
        "transcript": said,
        "words": [word | {"start": at, "end": at + 0.5} for at, word in enumerate(words)] if times else words,
        "end_of_turn_confidence": 0.5,
    }


def test_deepgrams_flux_sends_turns_and_an_eager_end_is_none() -> None:
    said: list[Message] = [
        {"type": "Connected", "request_id": "r1", "sequence_id": 0},
        turn("Update", 0, "", until=0.2),
        turn("StartOfTurn", 0, "Hello", until=0.5),
        turn("EagerEndOfTurn", 0, "Hello, how.", until=1.5),
        turn("TurnResumed", 0, "Hello, how are", until=2.5),
        turn("EndOfTurn", 0, "Hello, how are you?", until=3.5),
        turn("EndOfTurn", 1, "Fine.", until=4.0, times=False),
    ]
    events = fed("deepgram", said, agreement=0)
    assert told_apart("deepgram", said)
    assert timed(events)[:2] == [("Hello", 0, 500), ("how", 1000, 1500)]
    assert timed(events)[2:] == [("are", 2000, 2500), ("you", 3000, 3500), ("Fine", None, None)]
    assert [event.utterance_end for event in events] == [True, True, False]
    assert texts(fed("deepgram", said)) == ["Hello", "how", "are", "you", "Fine"]


def test_deepgrams_recorded_answer_is_read_too() -> None:
    answer = {"results": {"channels": [deepgram("so yes", final=True)["channel"]]}}
    assert told_apart("deepgram", [answer])
    assert texts(fed("deepgram", [answer])) == ["so", "yes"]
