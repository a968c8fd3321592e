"""What a client's message costs grows with its length and not with the square of it, whatever reader it is for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

import pytest

from caesura.worker.feeds.recognisers.catalogue import RecogniserName
from caesura.worker.service.clients.reading import RefusedMessageError, frame_reader
from caesura.worker.service.server.messages import Opening
from tests.harness.cost import LINEAR_AT_MOST, growth

Make = Callable[[int], str]
SESSIONS = 100_000
"""So many may be open here: the limits must not be what keeps a reader linear."""


def filled(head: str, item: Callable[[int], str], tail: str) -> Make:
    """Return a message of a size, full of such items."""

    def make(size: int) -> str:
        items: list[str] = []
        length = len(head) + len(tail)
        while length < size:
            items.append(item(len(items)))
            length += len(items[-1]) + 1
        return head + ",".join(items) + tail

    return make


def text_of(head: str, piece: str, tail: str) -> Make:
    return lambda size: head + piece * (size // len(json.dumps(piece)[1:-1])) + tail


PIECES = ("a ", "[", "(", "♪", "<|", "<", "*", "!", "x", "字", "&#", "- ", "\\\\", "mh", "1:", "SPEAKER ", "{\\\\")
TEXTS: dict[str, tuple[str, str]] = {
    "whisper": ('{"segments":[{"start":0,"end":1,"text":"', '"}]}'),
    "vosk": ('{"text":"', '"}'),
    "sherpa-onnx": ('{"segment":0,"is_final":true,"text":"', '"}'),
    "funasr": ('{"mode":"2pass-offline","text":"', '"}'),
    "deepgram": ('{"is_final":true,"channel":{"alternatives":[{"transcript":"', '"}]}}'),
    "google": ('{"results":[{"isFinal":true,"alternatives":[{"transcript":"', '"}]}]}'),
    "azure": ('{"RecognitionStatus":"Success","NBest":[{"Lexical":"', '"}]}'),
    "openai-realtime": (
        '{"type":"conversation.item.input_audio_transcription.completed","item_id":"a","transcript":"',
        '"}',
    ),
    "soniox": ('{"tokens":[{"is_final":true,"text":"', '"},{"text":"<end>","is_final":true}]}'),
    "assemblyai": ('{"type":"Turn","turn_order":0,"end_of_turn":true,"words":[{"text":"', '"}]}'),
    "aws": ('{"Transcript":{"Results":[{"Alternatives":[{"Items":[{"Content":"', '"}]}]}]}}'),
}
MANY: dict[str, Make] = {
    "whisper segments and speakers": filled(
        '{"segments":[', lambda at: f'{{"text":"a","start":{at},"speaker":{at}}}', "]}"
    ),
    "whisper words": filled('{"segments":[{"start":0,"words":[', lambda at: f'{{"word":" a","start":{at}}}', "]}]}"),
    "whisper live": filled(
        '{"segments":[', lambda at: f'{{"text":"a","start":{at},"end":{at},"completed":false}}', "]}"
    ),
    "whisper pieces of one word": filled(
        '{"transcription":[{"text":" a"},', lambda _: '{"text":"a"}', "]}"
    ),
    "google channels": filled(
        '{"results":[',
        lambda at: f'{{"alternatives":[{{"transcript":"a"}}],"channelTag":{at + 1},"isFinal":true}}',
        "]}",
    ),
    "google interim": filled(
        '{"results":[', lambda at: f'{{"alternatives":[{{"transcript":"a"}}],"channelTag":{at},"stability":1}}', "]}"
    ),
    "aws channels": filled(
        '{"Transcript":{"Results":[',
        lambda at: f'{{"ChannelId":"{at}","Alternatives":[{{"Items":[{{"Content":"a"}}]}}]}}',
        "]}}",
    ),
    "aws names": filled(
        '{"Transcript":{"Results":[',
        lambda at: f'{{"ResultId":"{at}","IsPartial":true,"Alternatives":[{{"Items":[{{"Content":"a"}}]}}]}}',
        "]}}",
    ),
    "soniox speakers": filled(
        '{"tokens":[', lambda at: f'{{"text":"a","is_final":true,"speaker":{at}}},{{"text":"<end>","is_final":true}}',
        "]}",
    ),
    "soniox ends": filled(
        '{"tokens":[{"text":"a","is_final":true},', lambda _: '{"text":"<end>","is_final":true}', "]}"
    ),
    "soniox tokens": filled('{"tokens":[', lambda _: '{"text":" a","is_final":false}', "]}"),
    "assemblyai utterances": filled(
        '{"id":"1","status":"completed","words":[],"utterances":[',
        lambda at: f'{{"words":[{{"text":"a","speaker":"{at}"}}]}}',
        "]}",
    ),
    "deepgram channels": filled(
        '{"results":{"channels":[', lambda _: '{"alternatives":[{"transcript":"a"}]}', "]}}"
    ),
    "deepgram speakers": filled(
        '{"is_final":true,"channel":{"alternatives":[{"words":[',
        lambda at: f'{{"word":"a","speaker":{at}}}',
        "]}]}}",
    ),
    "vosk words": filled('{"text":"a","result":[', lambda at: f'{{"word":"a","start":{at}}}', "]}"),
    "sherpa-onnx tokens as text": filled(
        '{"segment":0,"is_final":true,"text":"a","tokens":"[', lambda _: '\\"a\\"', ']","timestamps":[]}'
    ),
    "funasr stamps as text": filled(
        '{"mode":"2pass-offline","text":"a","timestamp":"[', lambda at: f"[{at},{at}]", ']"}'
    ),
    "azure words": filled(
        '{"RecognitionStatus":"Success","NBest":[{"Words":[', lambda at: f'{{"Word":"a","Offset":{at}}}', "]}]}"
    ),
}  # fmt: skip
EVENTS: dict[str, Make] = {
    "one text": text_of('{"words":"', "a ", '"}'),
    "words": filled('{"words":[', lambda _: '"a"', "]}"),
    "unknown fields": filled('{"version":"1.2",', lambda at: f'"{at}":0', "}"),
    "a field of a long name": text_of('{"', "wrods", '":0}'),
    "attributes": filled('{"attributes":{', lambda at: f'"{at}":""', "}}"),
    "targets": filled('{"targets":[', lambda at: f'"t{at}"', "]}"),
}


def read_all(recogniser: str | None) -> Callable[[str], None]:
    """Return what reads messages as the service does, a reader anew for each."""

    def read(message: str) -> None:
        opening = Opening(format=None if recogniser is None else RecogniserName(recogniser))
        reader = frame_reader(opening, _broken, max_sessions=SESSIONS)
        for events in (reader.read(message), reader.finish()):
            _drained(events)

    return read


def _drained(events: Iterable[object]) -> None:
    try:
        for _ in events:
            pass
    except RefusedMessageError:
        return


def _broken(_: RecogniserName, error: Exception) -> None:
    raise AssertionError from error


@pytest.fixture(autouse=True)
def _no_limit_of_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caesura.worker.service.clients.reading.MAX_MESSAGE_WORDS", None)
    monkeypatch.setattr("caesura.worker.service.clients.reading.MAX_TEXT_CHARACTERS", 10**9)


@pytest.mark.parametrize("many", MANY)
def test_a_message_of_many_things_costs_as_much_as_it_is_long(many: str) -> None:
    assert growth(MANY[many], read_all(many.split(maxsplit=1)[0])) <= LINEAR_AT_MOST


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("recogniser", ["whisper", "funasr"])
def test_a_long_text_costs_as_much_as_it_is_long(recogniser: str, piece: str) -> None:
    head, tail = TEXTS[recogniser]
    assert growth(text_of(head, piece, tail), read_all(recogniser)) <= LINEAR_AT_MOST


@pytest.mark.parametrize("recogniser", [name for name in TEXTS if name not in {"whisper", "funasr"}])
def test_a_text_of_many_words_costs_as_much_as_it_is_long(recogniser: str) -> None:
    head, tail = TEXTS[recogniser]
    assert growth(text_of(head, "a ", tail), read_all(recogniser)) <= LINEAR_AT_MOST


@pytest.mark.parametrize("event", EVENTS)
def test_an_event_costs_as_much_as_it_is_long(event: str) -> None:
    assert growth(EVENTS[event], read_all(None)) <= LINEAR_AT_MOST
