"""Azure's messages, in shapes written after its documentation, as words that are never revised."""

from __future__ import annotations

from tests.unit.feeds.spoken import Message, fed, texts, timed, told_apart, words


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


def test_azures_hypotheses_of_an_unknown_speaker_wait_for_the_phrase() -> None:
    heard = {"Offset": 0, "Duration": 10_000_000, "Type": "ConversationTranscription", "SpeakerId": "Unknown"}
    said: list[Message] = [
        *({"Text": "so um yes we do"[:end]} | heard for end in (5, 9, 12, 15)),
        {"RecognitionStatus": "Success", "NBest": [{"Lexical": "so um yes we do"}]} | heard | {"SpeakerId": "Guest-1"},
    ]
    events = fed("azure", said)
    assert texts(events, "s/Guest-1") == ["so", "um", "yes", "we", "do"]
    assert {event.session for event in events} == {"s/Guest-1"}
