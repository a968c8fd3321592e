"""What a client's message costs grows with its length and not with the square of it, whatever reader it is for."""

from __future__ import annotations

import contextlib
import gc
import json
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import pytest
from msgspec import structs
from typing_extensions import override

from caesura.schemas.codec import decode_event, decode_segment
from caesura.schemas.labels import Disfluency, Labels, Punctuation
from caesura.schemas.segments import DisfluencyTag, NumberForm, PunctuationName, Segment, SegmentWord
from caesura.schemas.state import decode_state
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.captions.cues import CueWriter
from caesura.worker.captions.limits import CaptionLimits
from caesura.worker.commands.conversation_lines import talk_lines
from caesura.worker.core.decoding.european_guard import guard_european_tags, keep_european_numbers_whole
from caesura.worker.core.decoding.kept_numbers import marks_around_numbers
from caesura.worker.core.decoding.kept_words import guard_tags, join_answers
from caesura.worker.core.decoding.tag_questions import mark_tag_questions
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.numbers.european_numbers import EUROPEAN, european_numbers
from caesura.worker.core.numbers.spoken_numbers import number_spans
from caesura.worker.core.overlays.overlay import Stretch
from caesura.worker.core.overlays.rules import OverlayRules
from caesura.worker.core.rendering.cleaning import Cleaning, CleaningLevel
from caesura.worker.core.rendering.conversation import ConversationOrder, Placed, characteristics_of, in_order
from caesura.worker.core.rendering.rendering import Style, render_segment
from caesura.worker.core.session.batching import BatchLimits
from caesura.worker.errors import FatalError
from caesura.worker.feeds.file_format import FileFormat, SpeechFormat, recognised_format
from caesura.worker.feeds.hypothesis import MAX_MESSAGE_WORDS
from caesura.worker.feeds.recognisers.catalogue import RecogniserName
from caesura.worker.feeds.recorded_speech import RecordedSpeech
from caesura.worker.feeds.timed_events import Pace
from caesura.worker.service.clients.reading import RefusedMessageError, frame_reader
from caesura.worker.service.clients.session_pool import SessionPool
from caesura.worker.service.server.messages import Opening
from tests.harness.in_memory_world import ManualClock
from tests.harness.partition_driver import event
from tests.harness.segments import a_segment

pytestmark = pytest.mark.slow

_Made = TypeVar("_Made")

LINEAR_AT_MOST = 20.0
"""Eight times as much input may take so many times as long, caches and a busy machine included; a square takes 64."""

CONSTANT_AT_MOST = 3.0
"""What does not depend on the input's length; what is proportional takes eight times as long."""

_LEAST_TRIES, _TRIES = 3, 9

_LEAST_S = 0.002
"""What is over sooner is not told from the clock's own steps."""


def growth(
    make: Callable[[int], _Made], read: Callable[[_Made], object], size: int = 32_000, *, limit: float = LINEAR_AT_MOST
) -> float:
    """Return how many times longer 8 times ``size`` takes to read.

    Input that leaves the processor's caches costs more a byte, once; the ratio of a square does not fall with the size.
    So over the limit, the ratio at twice the size counts.
    """
    ratio = _growth_at(make, read, size, limit)
    return ratio if ratio <= limit else _growth_at(make, read, 2 * size, limit)


def _growth_at(make: Callable[[int], _Made], read: Callable[[_Made], object], size: int, limit: float) -> float:
    """Return the ratio of the best of three of each.

    The first of the longer ones that is within the limit is enough: a better one would be too. A busy machine takes
    more than the reader: over the limit both are measured again, nine times at most.
    """
    smalls = [_took_s(make, read, size) for _ in range(_LEAST_TRIES)]
    larges: list[float] = []
    while len(larges) < _TRIES:
        larges.append(_took_s(make, read, 8 * size))
        ratio = min(larges) / max(_LEAST_S, min(smalls))
        if ratio <= limit:
            break
        smalls.append(_took_s(make, read, size))
    return ratio


def _took_s(make: Callable[[int], _Made], read: Callable[[_Made], object], size: int) -> float:
    made = make(size)
    gc.collect()
    gc.disable()  # when it runs depends on what other tests have left
    try:
        began_s = time.thread_time()  # what other tests left running in threads of their own is not the reader's work
        read(made)
        return time.thread_time() - began_s
    finally:
        gc.enable()


def test_a_quadratic_cost_is_detected() -> None:
    def read(size: int) -> None:
        for _ in range(size):
            sum(range(size))

    assert _growth_at(lambda size: size, read, 800, LINEAR_AT_MOST) > LINEAR_AT_MOST


@pytest.fixture(autouse=True, scope="module")
def _nothing_of_other_tests_is_collected() -> Iterator[None]:
    """Keep what is there already out of every collection: to look through it is not the reader's work."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(params=[1, pytest.param(8, marks=pytest.mark.long)], ids=["short", "long"])
def times(request: pytest.FixtureRequest) -> int:
    """Return how many times longer the dearest input is: ``make test-long`` finds squares of smaller factors."""
    return int(request.param)


Make = Callable[[int], str]
DIGITS_RULES = OverlayRules(numbers=NumberForm.DIGITS)
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
FUNASR_PIECES = ("a ", "<|", "<", "字", "x", "[")
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
    "elevenlabs": ('{"message_type":"partial_transcript","text":"', '"}'),
    "speechmatics": ('{"message":"AddTranscript","results":[{"type":"word","alternatives":[{"content":"', '"}]}]}'),
    "gladia": ('{"type":"transcript","data":{"is_final":true,"utterance":{"text":"', '","words":[]}}}'),
    "revai": ('{"type":"final","elements":[{"type":"text","value":"', '"}]}'),
    "watson": ('{"result_index":0,"results":[{"final":true,"alternatives":[{"transcript":"', '"}]}]}'),
    "riva": ('{"results":[{"is_final":true,"alternatives":[{"transcript":"', '"}]}]}'),
    "youtube": ('{"events":[{"tStartMs":0,"dDurationMs":9,"segs":[{"utf8":"', '"}]}]}'),
    "podcast": ('{"version":"1.0.0","segments":[{"startTime":0,"endTime":1,"body":"', '"}]}'),
    "whisperlivekit": ('{"buffer_transcription":"","lines":[{"speaker":1,"text":"', '"}]}'),
    "livekit": (
        '{"transcribedParticipantIdentity":"a","segments":[{"id":"1","final":true,"text":"',
        '"}]}',
    ),
    "pipecat": ('{"label":"rtvi-ai","type":"user-transcription","data":{"final":true,"text":"', '"}}'),
    "twilio": ('{"type":"prompt","last":true,"voicePrompt":"', '"}'),
    "jambonz": ('{"speech":{"is_final":true,"alternatives":[{"transcript":"', '"}]}}'),
    "bandwidth": ('{"eventType":"transcription","track":"a","transcript":"', '"}'),
    "azure-communication": ('{"kind":"TranscriptionData","transcriptionData":{"text":"', '"}}'),
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
    "speechmatics speakers": filled(
        '{"message":"AddTranscript","results":[',
        lambda at: f'{{"type":"word","start_time":{at},"alternatives":[{{"content":"a","speaker":"S{at}"}}]}}',
        "]}",
    ),
    "gladia utterances": filled(
        '{"result":{"transcription":{"utterances":[',
        lambda at: f'{{"text":"a","channel":{at},"start":{at},"end":{at},"words":[]}}',
        "]}}}",
    ),
    "elevenlabs channels": filled(
        '{"transcripts":[', lambda at: f'{{"channel_index":{at},"text":"a","words":[]}}', "]}"
    ),
    "revai speakers": filled(
        '{"monologues":[', lambda at: f'{{"speaker":{at},"elements":[{{"type":"text","value":"a","ts":{at}}}]}}', "]}"
    ),
    "watson labels": filled(
        '{"results":[{"final":true,"alternatives":[{"transcript":"a","timestamps":[["a",0,1]]}]}],"speaker_labels":[',
        lambda at: f'{{"from":{at},"to":{at},"speaker":{at}}}',
        "]}",
    ),
    "watson stamps": filled(
        '{"results":[{"final":true,"alternatives":[{"transcript":"a","timestamps":[',
        lambda at: f'["a",{at},{at}]',
        "]}]}]}",
    ),
    "riva channels": filled(
        '{"results":[', lambda at: f'{{"is_final":true,"channel_tag":{at},"alternatives":[{{"transcript":"a"}}]}}', "]}"
    ),
    "youtube events": filled(
        '{"events":[', lambda at: f'{{"tStartMs":{at},"dDurationMs":1,"segs":[{{"utf8":"a"}}]}}', "]}"
    ),
    "podcast speakers": filled(
        '{"version":"1.0.0","segments":[',
        lambda at: f'{{"startTime":{at},"endTime":{at},"speaker":"{at}","body":"a"}}',
        "]}",
    ),
    "whisperlivekit lines": filled(
        '{"buffer_transcription":"","lines":[', lambda at: f'{{"speaker":{at + 1},"text":"a"}}', "]}"
    ),
    "livekit segments": filled(
        '{"transcribedParticipantIdentity":"a","segments":[',
        lambda at: f'{{"id":"{at}","final":false,"text":"a"}}',
        "]}",
    ),
    "twilio channels": filled(
        '{"sentences":[', lambda at: f'{{"media_channel":{at},"transcript":"a"}}', "]}"
    ),
    "jambonz channels": filled(
        '{"data":{"speech":{"transcripts":[',
        lambda at: f'{{"is_final":true,"channel_tag":{at},"alternatives":[{{"transcript":"a"}}]}}',
        "]}}}",
    ),
    "bandwidth tracks": filled(
        '{"transcriptionId":"a","tracks":[', lambda at: f'{{"track":"{at}","transcript":"a"}}', "]}"
    ),
    "azure-communication words": filled(
        '{"kind":"TranscriptionData","transcriptionData":{"text":"a","words":[',
        lambda at: f'{{"text":"a","offset":{at},"duration":1}}',
        "]}}",
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
def test_a_message_of_many_things_costs_as_much_as_it_is_long(many: str, times: int) -> None:
    assert growth(MANY[many], read_all(many.split(maxsplit=1)[0]), times * 4_000) <= LINEAR_AT_MOST


@pytest.mark.parametrize(
    ("recogniser", "piece"),
    [*(("whisper", piece) for piece in PIECES), *(("funasr", piece) for piece in FUNASR_PIECES)],
)
def test_a_long_text_costs_as_much_as_it_is_long(recogniser: str, piece: str, times: int) -> None:
    head, tail = TEXTS[recogniser]
    assert growth(text_of(head, piece, tail), read_all(recogniser), times * 4_000) <= LINEAR_AT_MOST


@pytest.mark.parametrize("recogniser", [name for name in TEXTS if name not in {"whisper", "funasr"}])
def test_a_text_of_many_words_costs_as_much_as_it_is_long(recogniser: str, times: int) -> None:
    head, tail = TEXTS[recogniser]
    assert growth(text_of(head, "a ", tail), read_all(recogniser), times * 4_000) <= LINEAR_AT_MOST


def test_every_recogniser_has_its_cost_measured() -> None:
    assert set(TEXTS) == set(RecogniserName)


GROWING = {
    "twilio": ('{"type":"prompt","last":false,"voicePrompt":"', '"}'),
    "funasr": ('{"mode":"2pass-online","text":"', '"}'),
    "openai-realtime": ('{"type":"conversation.item.input_audio_transcription.delta","item_id":"a","delta":"', '"}'),
    "soniox": ('{"tokens":[{"is_final":true,"text":"', '"}]}'),
    "whisperlivekit": ('{"buffer_transcription":"","lines":[{"speaker":1,"text":"', '"}]}'),
    "elevenlabs": ('{"message_type":"committed_transcript","text":"', '"}'),
    "sherpa-onnx": ('{"segment":0,"is_final":false,"text":"', '"}'),
}


@pytest.mark.parametrize("recogniser", GROWING)
def test_memory_for_many_messages_is_bounded(recogniser: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caesura.worker.service.clients.reading.MAX_MESSAGE_WORDS", MAX_MESSAGE_WORDS // 4)
    head, tail = GROWING[recogniser]
    reader = frame_reader(Opening(format=RecogniserName(recogniser)), _broken)

    def kept_after(messages: int) -> int:
        for _ in range(messages):
            _drained(reader.read(text_of(head, "a ", tail)(11_000)))
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        first = kept_after(2)
        assert kept_after(4) - first < 20_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("event", EVENTS)
def test_an_event_costs_as_much_as_it_is_long(event: str, times: int) -> None:
    assert growth(EVENTS[event], read_all(None), times * 8_000) <= LINEAR_AT_MOST


MakeLines = Callable[[int], list[str]]


def line(head: str, piece: str, tail: str = "") -> MakeLines:
    return lambda size: [head + piece * (size // len(piece)) + tail + "\n"]


def lines(*head: str, of: str) -> MakeLines:
    return lambda size: [*head, *([of] * (size // len(of)))]


HEADS: dict[str, MakeLines] = {
    "digits": line("", "1"),
    "digits and colons": line("", "1:"),
    "blanks": line("a", " ", "x"),
    "blanks before a brace": line("a", " ", "{x"),
    "a key and blanks": line("a:", " ", "\\"),
    "brackets": line("", "["),
    "brackets on lines": lines(of="[\n"),
    "braces on lines": lines(of="{\n"),
    "arrows": line("1:1.1 ", "-->"),
    "commas": line("start,", "end,"),
    "quotes": line("[", '\\"'),
    "data": lines(of="data: {\n"),
    "labels": lines(of="Anna: so\n"),
}
FILES: dict[str, tuple[SpeechFormat, MakeLines]] = {
    "closing lines of an array": (RecogniserName.DEEPGRAM, lines("[\n", of="]]\n")),
    "closing lines of an object": (RecogniserName.VOSK, lines('{"text":[\n', of="}x}\n")),
    "an array that is not ended": (RecogniserName.VOSK, lines("[\n", of='{"text":"a"},\n')),
    "objects at the margin of an array": (RecogniserName.VOSK, lines("[\n", of='{\n"text":"a"\n},\n')),
    "quotes that are not ended": (RecogniserName.VOSK, line('{"text":"', '\\"')),
    "JSON lines with unknown fields": (FileFormat.JSONL, line('{"wrods', "wrods", '":0}')),
    "voices": (FileFormat.VTT, lambda size: ["WEBVTT\n", "\n", "00:01.000 --> 00:02.000\n", "<v" + " " * size + "\n"]),
    "voices in a row": (FileFormat.VTT, lambda size: ["WEBVTT\n\n", "00:01.000 --> 00:02.000\n", "<v " * (size // 3)]),
    "tags": (FileFormat.SRT, lambda size: ["1\n", "00:00:01,000 --> 00:00:02,000\n", "<i" * (size // 2) + "\n"]),
    "entities": (FileFormat.SRT, lambda size: ["1\n", "00:00:01,000 --> 00:00:02,000\n", "&amp" * (size // 4) + "\n"]),
    "a number that is no character": (
        FileFormat.SRT,
        lambda size: ["1\n", "00:00:01,000 --> 00:00:02,000\n", "&#" + "9" * size + ";\n"],
    ),
    "times": (FileFormat.SRT, lambda size: ["1\n", "0" * size + ":00:01,000 --> 00:00:02,000\n", "a\n"]),
    "lines of a cue": (FileFormat.SRT, lines("1\n", "00:00:01,000 --> 00:00:02,000\n", of="so\n")),
    "lines of a cue that rolls up": (
        FileFormat.VTT,
        lines("WEBVTT\n", "\n", "00:01.000 --> 00:02.000\n", "<00:01.500>a\n", of="so\n"),
    ),
    "brackets": (FileFormat.SRT, lambda size: ["1\n", "00:00:01,000 --> 00:00:02,000\n", "[" * size + "\n"]),
    "CTM": (FileFormat.CTM, lines(of="a 1 0.1 0.2 so\n")),
    "text": (FileFormat.TEXT, line("", "so ")),
}


@pytest.mark.parametrize("hostile", HEADS)
def test_telling_what_a_file_is_takes_time_by_its_length(hostile: str) -> None:
    def read(head: list[str]) -> None:
        with contextlib.suppress(FatalError):
            recognised_format("a.txt", head)

    assert growth(HEADS[hostile], read) <= LINEAR_AT_MOST


@pytest.mark.parametrize("hostile", FILES)
def test_reading_a_file_takes_time_by_its_length(hostile: str) -> None:
    known, make = FILES[hostile]

    def read(given: list[str]) -> None:
        speech = RecordedSpeech(name="a", lang="en", epoch=0, pace=Pace())
        with contextlib.suppress(FatalError):
            for _ in speech.events(iter(given), known):
                pass

    assert growth(make, read, 8_000) <= LINEAR_AT_MOST


HOSTILE: dict[str, Callable[[int], bytes]] = {
    "quotes escaped, no end": lambda size: b'{"a":"' + b'\\"' * (size // 2),
    "backslashes": lambda size: b'{"a":"' + b"\\" * size,
    "texts side by side": lambda size: b'{"a":[' + b'"x" ' * (size // 4),
    "quotes": lambda size: b"{" + b'"' * size,
    "blanks": lambda size: b" " * size + b"{",
    "blanks within": lambda size: b'{"version":"1.2"' + b" " * size + b"x",
    "brackets side by side": lambda size: b'{"a":[' + b"[]," * (size // 3) + b"[]]}",
    "fields": lambda size: b"{" + b",".join(b'"%d":0' % number for number in range(size // 10)) + b"}",
    "words": lambda size: (
        b'{"version":"1.2","session":"s","seq":0,"lang":"en","words":['
        + b",".join([b'{"text":"a"}'] * (size // 13))
        + b"]}"
    ),
    "a word of a wrong kind at the end": lambda size: (
        b'{"version":"1.2","session":"s","seq":0,"lang":"en","words":['
        + b",".join([b'{"text":"a"}'] * (size // 13))
        + b",3]}"
    ),
    "a long enum": lambda size: (
        b'{"version":"1.2","session":"s","seq":0,"lang":"en","options":{"emission":"'
        + b" - at `$.a" * (size // 10)
        + b'"}}'
    ),
    "one text": lambda size: b'{"version":"1.2","session":"' + b"s" * size + b'","seq":0,"lang":"en"}',
    "digits": lambda size: b'{"seq":' + b"9" * size + b"}",
    "msgpack arrays": lambda size: b"\x81\xa1a\xdd" + (size - 8).to_bytes(4, "big") + b"\x90" * (size - 8),
    "msgpack maps": lambda size: b"\x81\xa1a\xdd" + (size - 8).to_bytes(4, "big") + b"\x80" * (size - 8),
    "msgpack keys": lambda size: (
        b"\xdf"
        + (size // 6).to_bytes(4, "big")
        + b"".join(b"\xce" + number.to_bytes(4, "big") + b"\xc0" for number in range(size // 6))
    ),
    "msgpack counts beyond the end": lambda size: b"\x81\xa1a\xdd\xff\xff\xff\xff" + b"\xc0" * size,
}
DECODERS = (decode_event, decode_segment, decode_state)


@pytest.mark.parametrize("decode", DECODERS)
@pytest.mark.parametrize("hostile", HOSTILE)
def test_decoding_is_linear(hostile: str, decode: Callable[[bytes], object]) -> None:
    def read(data: bytes) -> None:
        with contextlib.suppress(ValueError):
            decode(data)

    assert growth(HOSTILE[hostile], read) <= LINEAR_AT_MOST


def repeated(piece: str) -> Callable[[int], list[str]]:
    return lambda size: (piece.split() * size)[:size]


DIGITS = {
    "en": ("may fourth", "twenty two", "five or", "and five", "two hundred and", "oh", "one", "at five thirty"),
    "zh": ("百分之", "一", "二万", "八月四号", "上午三点", "八十五元八角", "零"),
    "de": ("zwei und", "hundert", "fünf uhr"),
    "es": ("treinta y", "a las dos"),
    "fr": ("quatre vingt", "deux euros", "cent"),
}


def stretch_of(words: Sequence[str], mark: PunctuationName) -> Stretch:
    return Stretch(tuple(range(len(words))), tuple(words), (mark,) * len(words))


@pytest.mark.parametrize(
    ("language", "piece", "mark"),
    [
        *((one, piece, "none") for one, pieces in DIGITS.items() for piece in pieces),
        *((one, piece, "comma") for one, (piece, *_) in DIGITS.items()),
    ],
)
def test_writing_numbers_costs_as_much_as_there_are_words(
    language: str, piece: str, mark: PunctuationName, times: int
) -> None:
    def write(stretch: Stretch) -> None:
        DIGITS_RULES.over([stretch], language)

    assert growth(lambda size: stretch_of(repeated(piece)(size), mark), write, times * 250) <= LINEAR_AT_MOST


@pytest.mark.parametrize("unit", ["万", "十", "块"])
def test_a_long_run_of_chinese_digits_costs_as_much_as_it_is_long(unit: str) -> None:
    assert growth(lambda size: [*"一" * size, unit], number_spans, 4_000) <= LINEAR_AT_MOST


GUARDED = {
    "en": ("one two", "no no one", "sorry", "i mean", "w", "choo", "do", "five dollars and", "you know", "快", "no"),
    "de": ("zwei nein", "nein", "hundert und"),
    "fr": ("quatre vingt", "non"),
}
TAGS_THAT_GO_ON = (Disfluency.I_RM, Disfluency.I_IM)


@pytest.mark.parametrize(
    ("language", "piece", "tag"),
    [
        *((one, piece, tag) for one, pieces in GUARDED.items() for piece in pieces for tag in TAGS_THAT_GO_ON),
        *((one, piece, tag) for one, (piece, *_) in GUARDED.items() for tag in (Disfluency.B_RM, Disfluency.B_IM)),
    ],
)
def test_the_guard_of_tags_costs_as_much_as_there_are_words(
    language: str, piece: str, tag: Disfluency, times: int
) -> None:
    def guard(words: list[str]) -> None:
        tags = bytearray([Disfluency.B_RM.value, *[tag.value] * (len(words) - 1)])
        if language == "en":
            guard_tags(words, bytes(len(words)), tags, 0, len(words))
        else:
            guard_european_tags(words, tags, 0, len(words), language)

    assert growth(repeated(piece), guard, times * 250) <= LINEAR_AT_MOST


COMMA, PERIOD = Punctuation.COMMA, Punctuation.PERIOD
MARKED_PIECES = {
    "en": ("in five", "in", "at", "um", "isn't it", "five over"),
    "zh": ("在 一", "在", "八块 七", "又 一"),
    "de": ("in zwei", "um", "und"),
    "fr": ("et",),
}


@pytest.mark.parametrize(
    ("language", "piece", "mark"),
    [
        *((one, piece, mark) for one, pieces in MARKED_PIECES.items() for piece in pieces for mark in (COMMA, PERIOD)),
        *((one, piece, Punctuation.QUESTION) for one, (piece, *_) in MARKED_PIECES.items()),
    ],
)
def test_a_long_sentences_marks_cost_as_much_as_there_are_words(language: str, piece: str, mark: Punctuation) -> None:
    def decide(words: list[str]) -> None:
        length = len(piece.split())
        marks = bytearray([*[Punctuation.NONE.value] * (length - 1), mark.value] * (len(words) // length))
        if language in EUROPEAN:
            keep_european_numbers_whole(words, marks, 0, language, digit_commas=False)
        else:
            marks_around_numbers(words, marks, 0, look_ahead_words=6, digit_commas=False)
            join_answers(words, marks, 0)
            mark_tag_questions(words, marks, 0)

    assert growth(repeated(piece), decide, 250) <= LINEAR_AT_MOST


def long_segment(piece: str, tag: DisfluencyTag = "O", mark: PunctuationName = "none") -> Callable[[int], Segment]:
    def make(size: int) -> Segment:
        said = [
            SegmentWord(text=text, punctuation=mark, disfluency=tag, start_ms=at * 300, end_ms=at * 300 + 200)
            for at, text in enumerate(repeated(piece)(size))
        ]
        return a_segment(said)

    return make


SEGMENTS = {
    "words": long_segment("so"),
    "numbers": long_segment("may fourth"),
    "digits": long_segment("one"),
    "Chinese": long_segment("很好"),
    "marks alone": long_segment("[", "B-IM", "comma"),
    "fillers": long_segment("uh", "B-IM", "period"),
    "words taken back": long_segment("so", "B-RM", "comma"),
}


@pytest.mark.parametrize("said", SEGMENTS)
def test_a_long_segment_is_rendered_in_time_by_its_length(said: str) -> None:
    def write(segment: Segment) -> None:
        for style in Style:
            render_segment(segment, style, overlays=DIGITS_RULES)
        render_segment(segment, Style.FLUENT, cleaning=Cleaning(level=CleaningLevel.MEDIUM))
        for _ in CueWriter(CaptionLimits(), overlays=DIGITS_RULES).write(segment):
            pass

    assert growth(SEGMENTS[said], write, 500) <= LINEAR_AT_MOST


def sides(size: int, *, length_ms: int, step_ms: int, mark: PunctuationName = "none") -> list[Segment]:
    """Return a segment of each of so many sessions of a conversation: two words, the sides one behind the other."""
    word = SegmentWord(text="so", punctuation="none", disfluency="O")
    return [
        a_segment(
            [
                structs.replace(word, start_ms=at * step_ms, end_ms=at * step_ms + 200),
                structs.replace(word, start_ms=at * step_ms + 200, end_ms=at * step_ms + length_ms, punctuation=mark),
            ],
            session=f"side-{at}",
        )
        for at in range(size)
    ]


CONVERSATIONS: dict[str, Callable[[int], list[Segment]]] = {
    "one behind the other": lambda size: sides(size, length_ms=400, step_ms=900),
    "all at once": lambda size: sides(size, length_ms=10_000_000, step_ms=1),
    "at one time": lambda size: sides(size, length_ms=500, step_ms=0),
    "in sentences": lambda size: sides(size, length_ms=900, step_ms=100, mark="period"),
    "two sides that take turns": lambda size: [
        structs.replace(said, session=f"side-{at % 2}")
        for at, said in enumerate(sides(size, length_ms=2_000, step_ms=1_500))
    ],
}


@pytest.mark.parametrize("conversation", CONVERSATIONS)
def test_a_conversations_numbers_cost_as_much_as_it_has_sides(conversation: str) -> None:
    def read(placed: list[Placed]) -> None:
        for _ in talk_lines(characteristics_of(placed)):
            pass

    assert growth(lambda size: in_order(CONVERSATIONS[conversation](size)), read, 500) <= LINEAR_AT_MOST


@pytest.mark.parametrize("ended", [False, True])
@pytest.mark.parametrize("conversation", CONVERSATIONS)
def test_order_of_a_live_conversation_costs_as_much_as_it_has_sides(conversation: str, ended: bool) -> None:
    def make(size: int) -> list[Segment]:
        said = CONVERSATIONS[conversation](size)
        return [structs.replace(one, session_end=True) for one in said] if ended else said

    def read(segments: list[Segment]) -> None:
        order = ConversationOrder(hold_ms=10_000)
        for one in segments:
            order.add(one)

    assert growth(make, read, 500) <= LINEAR_AT_MOST


class _OneBatchATurn(ScriptedEngine):
    def __init__(self, clock: ManualClock) -> None:
        super().__init__()
        self._clock = clock

    @override
    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        self._clock.pass_s(0.1)
        return super().label(requests)


def test_a_turn_costs_by_what_it_labels_and_not_by_who_waits() -> None:
    def waiting(sessions: int) -> SessionPool:
        clock = ManualClock()
        rules = DecodingRules(max_open_sessions=sessions, flush_after_ms=60_000, stall_after_ms=60_000)
        pool = SessionPool(_OneBatchATurn(clock), clock=clock, rules=rules, limits=BatchLimits(max_sessions=4))
        for name in range(sessions):
            pool.offer(event(0, "so be it", session=str(name), utterance_end=True))
        pool.turn(0.05)
        return pool

    def turn(pool: SessionPool) -> None:
        for _ in range(10):
            pool.turn(0.05)
        assert pool.is_busy

    assert growth(waiting, turn, 500, limit=CONSTANT_AT_MOST) <= CONSTANT_AT_MOST


SPOKEN_NUMBERS = {
    "en": ("oh", "one", "two hundred and", "twenty point", "may fourth", "double"),
    "de": ("zwei", "hundert und", "zwanzig komma"),
    "es": ("dos", "mil", "treinta y"),
    "fr": ("cent", "quatre vingt", "vingt virgule"),
}


@pytest.mark.parametrize(
    ("language", "piece"), [(one, piece) for one, all_ in SPOKEN_NUMBERS.items() for piece in all_]
)
def test_finding_numbers_costs_as_much_as_there_are_words(language: str, piece: str, times: int) -> None:
    def find(words: list[str]) -> None:
        if language == "en":
            number_spans(words)
        else:
            european_numbers(words, language)

    assert growth(lambda size: piece.split() * (size // len(piece)), find, times * 1_000) <= LINEAR_AT_MOST
