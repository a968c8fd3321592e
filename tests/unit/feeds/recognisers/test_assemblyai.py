"""AssemblyAI's messages, in shapes written after its documentation, as words that are never revised."""

from __future__ import annotations

from tests.unit.feeds.spoken import Message, fed, texts, timed, told_apart


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


def test_assemblyais_final_words_go_out_at_once_repeats_are_dropped() -> None:
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


def spoken(number: int, *said: tuple[str, str], label: str, end: bool = False) -> dict[str, object]:
    told = turn(number, *((text, True) for text, _ in said), end=end)
    words: list[dict[str, object]] = told["words"]  # type: ignore[assignment]
    named = [word | ({"speaker": who} if who else {}) for word, (_, who) in zip(words, said, strict=True)]
    return told | {"words": named, "speaker_label": label}


def test_assemblyais_word_of_an_undecided_speaker_waits_for_the_turn() -> None:
    said = [
        spoken(0, ("so", "A"), ("i", "PENDING"), label="A"),
        spoken(0, ("so", "A"), ("i", "PENDING"), ("was", "PENDING"), label="A", end=True),
        spoken(1, ("yes", "B"), ("we", "PENDING"), label="A"),
        spoken(1, ("yes", "B"), ("we", "B"), ("do", "PENDING"), label="B", end=True),
    ]
    events = fed("assemblyai", said)
    assert [texts([event], "s/A") or texts([event], "s/B") for event in events if event.words] == [
        ["so"],
        ["i", "was"],
        ["yes"],
        ["we", "do"],
    ]
    assert (texts(events, "s/A"), texts(events, "s/B")) == (["so", "i", "was"], ["yes", "we", "do"])


def test_assemblyai_finals_survive_a_break_before_their_speaker() -> None:
    said: list[Message] = [
        {"type": "Begin", "id": "x", "expires_at": 1},
        spoken(0, ("so", "A"), ("i", "PENDING"), ("was", "A"), label="A"),
        {"type": "Begin", "id": "y", "expires_at": 1},
        spoken(0, ("yes", "PENDING"), label="A"),
    ]
    events = fed("assemblyai", said)
    assert (texts(events, "s/A"), texts(events)) == (["so", "was"], ["i", "yes"])
    assert [event.epoch for event in events if event.words] == [3, 3, 3, 4], "each in its connection"


def test_assemblyais_speaker_of_a_whole_turn_is_read() -> None:
    said = [spoken(0, ("so", ""), label="A"), spoken(0, ("so", ""), ("um", ""), label="B", end=True)]
    events = fed("assemblyai", said)
    assert (texts(events, "s/B"), {event.session for event in events}) == (["so", "um"], {"s/B"})
    assert texts(fed("assemblyai", [spoken(0, ("so", ""), label="UNKNOWN", end=True)])) == ["so"]


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


def test_assemblyais_recorded_speakers_have_a_session_each() -> None:
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
