"""The messages of hosted recognisers, in shapes written after their documentation, as words that are never revised."""

from __future__ import annotations

import pytest

from tests.unit.feeds.spoken import Message, fed, texts, timed, told_apart, words
from worker.feeds.hypothesis import UnreadableMessageError


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


def test_deepgrams_recorded_answer_is_read_too() -> None:
    answer = {"results": {"channels": [deepgram("so yes", final=True)["channel"]]}}
    assert told_apart("deepgram", [answer])
    assert texts(fed("deepgram", [answer])) == ["so", "yes"]


def turn(
    number: int, *said: tuple[str, bool], end: bool = False, formatted: bool = False, pause: str = ""
) -> dict[str, object]:
    return {
        "type": "Turn",
        "turn_order": number,
        "turn_is_formatted": formatted,
        "end_of_turn": end,
        "utterance": pause,
        "transcript": " ".join(text for text, final in said if final),
        "words": [
            {"text": text, "start": 100 * at, "end": 100 * at + 90, "confidence": 0.9, "word_is_final": final}
            for at, (text, final) in enumerate(said)
        ],
    }


def test_assemblyais_final_words_go_out_at_once_and_a_formatted_repeat_is_dropped() -> None:
    said: list[Message] = [
        {"type": "Begin", "id": "x", "expires_at": 1},
        turn(0, ("hi", False)),
        turn(0, ("hi", True), ("my", False)),
        turn(0, ("hi", True), ("my", True), ("na", False)),
        turn(0, ("hi", True), ("my", True), ("name", True), end=True, pause="hi my name"),
        turn(0, ("Hi,", True), ("my", True), ("name.", True), end=True, formatted=True),
        turn(1, ("i", True), end=True),
    ]
    events = fed("assemblyai", said)
    assert told_apart("assemblyai", said)
    assert [texts([event]) for event in events] == [["hi"], ["my"], ["name"], ["i"], []]
    assert [event.utterance_end for event in events] == [False, False, True, True, False]
    assert timed(events)[1] == ("my", 100, 190)


def test_assemblyais_model_that_formats_at_once_is_read_too() -> None:
    said = [turn(0, ("Hi.", True), end=True, formatted=True)]
    assert texts(fed("assemblyai", said)) == ["Hi."]


def transcript(*utterances: dict[str, object], **fields: object) -> dict[str, object]:
    """Return the transcript of a recording; its words are those of its utterances."""
    every = [word for one in utterances for word in one["words"]]  # type: ignore[attr-defined]
    told = list(utterances) if fields.pop("speakers", True) else None
    found = {
        "id": "5551722-f677",
        "status": "completed",
        "audio_url": "https://example.org/a.mp3",
        "text": "",
        **fields,
    }
    return found | {"words": every, "utterances": told, "confidence": 0.9, "audio_duration": 12}


def uttered(said: str, at_ms: int, *, speaker: str | None = None, channel: str | None = None) -> dict[str, object]:
    words = [
        {"text": word, "start": at_ms + 100 * at, "end": at_ms + 100 * at + 90, "confidence": 0.9}
        | {"speaker": speaker, "channel": channel}
        for at, word in enumerate(said.split())
    ]
    return {"speaker": speaker, "channel": channel, "text": said, "start": at_ms, "words": words, "confidence": 0.9}


def test_assemblyais_transcript_of_a_recording_is_read() -> None:
    said = [transcript(uttered("so um yes", 250), speakers=False)]
    events = fed("assemblyai", said)
    assert told_apart("assemblyai", said)
    assert timed(events) == [("so", 250, 340), ("um", 350, 440), ("yes", 450, 540)]
    assert [event.utterance_end for event in events] == [True, False]


def test_assemblyais_recorded_speakers_have_a_session_each_and_no_word_is_said_twice() -> None:
    said = [transcript(uttered("good morning", 0, speaker="A"), uttered("um hi", 900, speaker="B"))]
    events = fed("assemblyai", said)
    assert timed(events, "s/A") == [("good", 0, 90), ("morning", 100, 190)]
    assert texts(events, "s/B") == ["um", "hi"]
    assert {event.session for event in events} == {"s/A", "s/B"}


def test_assemblyais_recorded_channels_have_a_session_each() -> None:
    one = uttered("good morning", 0, speaker="1", channel="1")
    said = [transcript(one, uttered("um hi", 900, speaker="2", channel="2"), audio_channels=2)]
    assert {event.session for event in fed("assemblyai", said)} == {"s/1", "s/2"}
    assert texts(fed("assemblyai", said), "s/2") == ["um", "hi"]


def test_a_word_event_with_fields_like_assemblyais_stays_a_word_event() -> None:
    ours = {"session": "a", "id": "x", "status": "ok", "words": [{"text": "so"}]}
    assert not told_apart("assemblyai", [ours])


def google(*results: Message) -> dict[str, object]:
    return {"results": list(results)}


def interim(said: str, stability: float) -> dict[str, object]:
    return {"alternatives": [{"transcript": said}], "stability": stability, "resultEndTime": "1.2s"}


def test_googles_stable_beginning_and_unstable_rest_are_one_hypothesis() -> None:
    final = {
        "isFinal": True,
        "resultEndTime": "2.100s",
        "alternatives": [
            {
                "transcript": "so um yes",
                "words": [
                    {"endTime": "0.400s", "word": "so"},
                    {"startTime": "0.400s", "endTime": "0.900s", "word": "um"},
                    {"startTime": "1.300s", "endTime": "2s", "word": "yes", "confidence": 0.5},
                ],
            }
        ],
    }
    said: list[Message] = [
        google(interim("so", 0.9), interim(" um", 0.01)),
        google(interim("so um", 0.9), interim(" yet", 0.01)),
        google(interim("so um", 0.9), interim(" yes", 0.01)),
        google(final),
    ]
    events = fed("google", said)
    assert told_apart("google", said)
    assert [texts([event]) for event in events] == [["so", "um"], ["yes"], []]
    assert timed(fed("google", said, agreement=0)) == [("so", 0, 400), ("um", 400, 900), ("yes", 1300, 2000)]


def test_googles_durations_may_be_seconds_and_nanos() -> None:
    word = {"word": "so", "start_offset": {"seconds": "1", "nanos": 300_000_000}, "end_offset": {"seconds": 2}}
    said = [google({"is_final": True, "alternatives": [{"transcript": "so", "words": [word]}]})]
    assert timed(fed("google", said)) == [("so", 1300, 2000)]


def test_googles_words_by_speaker_that_begin_anew_with_every_final_are_not_said_twice() -> None:
    def tagged(*said: tuple[str, float, int]) -> dict[str, object]:
        listed = [
            {"word": word, "startTime": f"{at}s", "endTime": f"{at + 0.5}s", "speakerTag": tag}
            for word, at, tag in said
        ]
        return google({"isFinal": True, "alternatives": [{"transcript": "", "words": listed}]})

    events = fed("google", [tagged(("hi", 0.0, 1)), tagged(("hi", 0.0, 1), ("hello", 1.0, 2))])
    assert (texts(events, "s/1"), texts(events, "s/2")) == (["hi"], ["hello"])


def test_azures_ticks_are_a_hundred_nanoseconds_and_its_display_is_not_read() -> None:
    said: list[Message] = [
        {"Id": "1", "Text": "so um", "Offset": 1_000_000, "Duration": 5_000_000},
        {
            "Id": "1",
            "RecognitionStatus": "Success",
            "Offset": 1_000_000,
            "Duration": 9_000_000,
            "DisplayText": "So, 20.",
            "NBest": [
                {
                    "Confidence": 0.9,
                    "Lexical": "so um twenty",
                    "ITN": "so um 20",
                    "Display": "So, 20.",
                    "Words": [
                        {"Word": "so", "Offset": 1_000_000, "Duration": 2_000_000},
                        {"Word": "um", "Offset": 3_000_000, "Duration": 2_000_000},
                        {"Word": "twenty", "Offset": 5_000_000, "Duration": 4_000_000},
                    ],
                    "DisplayWords": [{"DisplayText": "So,", "Offset": 1_000_000, "Duration": 2_000_000}],
                }
            ],
        },
        {"Id": "2", "RecognitionStatus": "EndOfDictation", "Offset": 20_000_000, "Duration": 0},
    ]
    events = fed("azure", said)
    assert told_apart("azure", said)
    assert timed(events) == [("so", 100, 300), ("um", 300, 500), ("twenty", 500, 900)]
    assert events[0].utterance_end
    assert events[0].attributes is None


def test_azures_answer_without_times_of_words_has_them_guessed_and_says_so() -> None:
    said: list[Message] = [
        {"RecognitionStatus": "Success", "Offset": 0, "Duration": 10_000_000, "DisplayText": "So, yes."}
    ]
    events = fed("azure", said)
    assert texts(events) == ["So", "yes"]
    assert words(events)[-1].end_ms == 1000
    assert events[0].attributes == {"word_ends": "guessed"}


def aws(result: str, *items: tuple[str, float | None, bool], partial: bool = True) -> dict[str, object]:
    listed = [
        {"Content": text, "Type": "pronunciation", "StartTime": at, "EndTime": at + 0.25, "Stable": stable}
        if at is not None
        else {"Content": text, "Type": "punctuation", "StartTime": 0.5, "EndTime": 0.5, "Stable": stable}
        for text, at, stable in items
    ]
    one = {
        "ResultId": result,
        "IsPartial": partial,
        "StartTime": 0.0,
        "EndTime": 1.5,
        "Alternatives": [{"Items": listed}],
    }
    return {"Transcript": {"Results": [one]}}


def test_awss_stable_items_go_out_at_once_and_its_marks_are_no_words() -> None:
    said: list[Message] = [
        aws("a", ("so", 0.0, True), ("um", 0.5, False)),
        aws("a", ("so", 0.0, True), (",", None, True), ("uh", 0.5, True), ("yes", 1.0, False)),
        aws("a", ("so", 0.0, True), (",", None, True), ("uh", 0.5, True), ("yet", 1.0, True), partial=False),
        aws("a", ("So", 0.0, True), partial=False),
        aws("b", ("next", 2.0, True), partial=False),
    ]
    events = fed("aws", said)
    assert told_apart("aws", said)
    assert [texts([event]) for event in events] == [["so"], ["uh"], ["yet"], ["next"], []]
    assert timed(events)[1] == ("uh", 500, 750)
    assert events[0].heard_until_ms == 500, "audio is told as heard up to the first word that may change"


def test_awss_batch_file_has_times_as_text() -> None:
    item = {"type": "pronunciation", "start_time": "0.04", "end_time": "0.2", "alternatives": [{"content": "so"}]}
    mark = {"type": "punctuation", "alternatives": [{"content": "."}]}
    file = {"jobName": "j", "results": {"transcripts": [{"transcript": "so."}], "items": [item, mark]}}
    assert told_apart("aws", [file])
    assert timed(fed("aws", [file])) == [("so", 40, 200)]


def token(text: str, *, final: bool, at: int = 0, **more: object) -> dict[str, object]:
    return {"text": text, "start_ms": at, "end_ms": at + 50, "confidence": 0.9, "is_final": final} | more


def soniox(*tokens: Message, heard: int = 0, **more: object) -> dict[str, object]:
    return {"tokens": list(tokens), "final_audio_proc_ms": 0, "total_audio_proc_ms": heard} | more


def test_sonioxs_pieces_make_a_word_once_the_next_one_begins() -> None:
    said: list[Message] = [
        soniox(token("Beau", final=True), token("ti", final=False)),
        soniox(token("ti", final=True, at=50), token("ful", final=True, at=100)),
        soniox(token(" day", final=False, at=200)),
        soniox(token(" day", final=True, at=200), token("<end>", final=True)),
        soniox(token("Yes", final=True, at=400)),
        soniox(finished=True),
    ]
    events = fed("soniox", said)
    assert told_apart("soniox", said)
    assert timed(events) == [("Beautiful", 0, 150), ("day", 200, 250), ("Yes", 400, 450)]
    assert [texts([event]) for event in events if event.words] == [["Beautiful"], ["day"], ["Yes"]]
    assert events[1].utterance_end


def test_sonioxs_translations_were_not_said_and_speakers_have_sessions() -> None:
    said: list[Message] = [
        soniox(token("Ja", final=True, speaker="1"), token(" yes", final=True, translation_status="translation")),
        soniox(token(" nein", final=True, at=100, speaker="2"), finished=True),
    ]
    events = fed("soniox", said)
    assert (texts(events, "s/1"), texts(events, "s/2")) == (["Ja"], ["nein"])


def test_sonioxs_chinese_tokens_are_characters() -> None:
    said = [soniox(token("今天", final=True), token("好", final=True, at=100)), soniox(finished=True)]
    assert texts(fed("soniox", said)) == ["今", "天", "好"]


_ITEM = "conversation.item.input_audio_transcription."


def test_openais_items_go_out_in_the_order_of_their_audio() -> None:
    said: list[Message] = [
        {"type": "session.created", "session": {}},
        {"type": "input_audio_buffer.speech_started", "item_id": "a", "audio_start_ms": 0},
        {"type": "input_audio_buffer.speech_stopped", "item_id": "a", "audio_end_ms": 1000},
        {"type": "input_audio_buffer.committed", "item_id": "a", "previous_item_id": None},
        {"type": "input_audio_buffer.committed", "item_id": "b", "previous_item_id": "a"},
        {"type": f"{_ITEM}completed", "item_id": "b", "transcript": "Second."},
        {"type": f"{_ITEM}delta", "item_id": "a", "delta": "Fir"},
        {"type": f"{_ITEM}delta", "item_id": "a", "delta": "st "},
        {"type": f"{_ITEM}completed", "item_id": "a", "transcript": "First one."},
        {"type": f"{_ITEM}completed", "item_id": "a", "transcript": "First one."},
    ]
    events = fed("openai-realtime", said)
    assert told_apart("openai-realtime", said)
    assert [texts([event]) for event in events] == [["First"], ["one."], ["Second."], []]


def test_openais_item_that_failed_is_passed_over() -> None:
    said: list[Message] = [
        {"type": "input_audio_buffer.committed", "item_id": "a"},
        {"type": "input_audio_buffer.committed", "item_id": "b"},
        {"type": f"{_ITEM}completed", "item_id": "b", "transcript": "Here."},
        {"type": f"{_ITEM}failed", "item_id": "a", "error": {}},
    ]
    assert texts(fed("openai-realtime", said)) == ["Here."]


@pytest.mark.parametrize(
    ("name", "message", "told"),
    [
        ("deepgram", {"type": "Results", "channel": {"alternatives": "secret"}}, "alternatives: expected a list"),
        ("assemblyai", {"type": "Turn", "words": [{"text": 7}]}, "text: expected text"),
        ("aws", {"Transcript": {"Results": [{"IsPartial": "secret"}]}}, "IsPartial: expected true or false"),
    ],
)
def test_a_message_that_is_not_as_documented_is_named_and_not_quoted(name: str, message: Message, told: str) -> None:
    with pytest.raises(UnreadableMessageError, match=told) as refused:
        fed(name, [message])
    assert "secret" not in str(refused.value)
