"""Google's messages, in shapes written after its documentation, as words that are never revised."""

from __future__ import annotations

from caesura.worker.feeds.recognisers.google import Google
from tests.unit.feeds.spoken import Message, fed, texts, timed, told_apart


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


def test_googles_words_by_speaker_that_begin_anew_are_not_said_twice() -> None:
    def tagged(*said: tuple[str, float, int]) -> dict[str, object]:
        listed = [
            {"word": word, "startTime": f"{at}s", "endTime": f"{at + 0.5}s", "speakerTag": tag}
            for word, at, tag in said
        ]
        return google({"isFinal": True, "alternatives": [{"transcript": "", "words": listed}]})

    events = fed("google", [tagged(("hi", 0.0, 1)), tagged(("hi", 0.0, 1), ("hello", 1.0, 2))])
    assert (texts(events, "s/1"), texts(events, "s/2")) == (["hi"], ["hello"])


def test_googles_recording_says_who_spoke_in_its_last_result() -> None:
    def result(*said: tuple[str, float, int]) -> dict[str, object]:
        words = [
            {"word": word, "startTime": f"{at}s", "endTime": f"{at + 0.5}s"} | ({"speakerTag": tag} if tag else {})
            for word, at, tag in said
        ]
        return {"alternatives": [{"words": words}]}

    first, second = result(("hi", 0.0, 0)), result(("hello", 1.0, 0))
    answer = google(first, second, result(("hi", 0.0, 1), ("hello", 1.0, 2)))
    events = fed("google", [answer])
    assert (texts(events, "s/1"), texts(events, "s/2"), texts(events)) == (["hi"], ["hello"], [])
    assert texts(fed("google", [google(first, second)])) == ["hi", "hello"]


def test_googles_library_writes_kinds_of_events_as_numbers_and_what_is_not_set() -> None:
    word = {"word": "so", "start_time": "0.100s", "end_time": "0.400s", "confidence": 0.0}
    result = {"is_final": True, "stability": 0.0, "channel_tag": 0, "language_code": ""}
    said: list[Message] = [
        google(result | {"alternatives": [{"words": [word | {"speaker_tag": 1, "speaker_label": ""}]}]})
        | {"speech_event_type": 0, "request_id": "7"},
        {"results": [], "speech_event_type": 3},
    ]
    events = fed("google", said)
    assert told_apart("google", said)
    assert timed(events, "s/1") == [("so", 100, 400)]
    assert [event.utterance_end for event in events] == [False, True, False]


def test_googles_interim_words_wait_once_finals_say_who_speaks() -> None:
    def tagged(said: str, at: int) -> dict[str, object]:
        listed = [
            {"word": one, "startOffset": f"{at}s", "endOffset": f"{at + 1}s", "speakerLabel": "2"}
            for one in said.split()
        ]
        return google({"isFinal": True, "alternatives": [{"transcript": said, "words": listed}]})

    said: list[Message] = [
        tagged("hello", 0),
        *(google(interim(one, 0.9)) for one in ("so we", "so we do", "so we do it", "so we do it now")),
        tagged("so we do it now", 5),
    ]
    assert texts(fed("google", said), "s/2") == ["hello", "so", "we", "do", "it", "now"]


def lone(said: str, end: str = "1s") -> dict[str, object]:
    return google({"alternatives": [{"transcript": said}], "resultEndTime": end})


def test_googles_interim_results_without_stability_are_not_final() -> None:
    said: list[Message] = [
        lone("we"),
        lone("we meet", "2s"),
        google({"alternatives": [{"transcript": "we meet now"}], "isFinal": True, "resultEndTime": "3s"}),
        lone("all", "4s"),
        lone("all of", "5s"),
    ]
    assert told_apart("google", said)
    assert texts(fed("google", said)) == ["we", "meet", "now"]


def test_googles_lone_results_are_a_recording_where_no_stream_is_seen() -> None:
    assert texts(fed("google", [lone("we"), lone("we meet", "2s"), lone("then all go", "3s")])) == [
        *("we", "meet"), *("then", "all", "go")]  # fmt: skip
    billed = [lone(said) | {"metadata": {"totalBilledDuration": "1s"}} for said in ("so", "so it", "goes")]
    assert texts(fed("google", billed)) == ["so", "so", "it", "goes"]
    assert texts(fed("google", [{"response": lone("good day")}])) == ["good", "day"]


def test_googles_channels_do_not_pile_up() -> None:
    reader = Google()
    for channel in range(1, 5000):
        list(reader.read(google({"isFinal": True, "channelTag": channel, "alternatives": [{"transcript": "so"}]})))
    assert len(reader._until_ms) == 1024
