"""Shapes of recognisers' files and messages: each is known as its maker's alone, and read word for word."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.errors import InvalidEventError
from caesura.worker.errors import FatalError
from caesura.worker.feeds.recognisers.catalogue import RecogniserName, recogniser_of
from tests.unit.feeds.spoken import Message, fed, texts, timed, told_apart

Timed = list[tuple[str, int | None, int | None]]


class Shape(NamedTuple):
    """What a recogniser writes. said: each session's words, by its name behind the connection's."""

    recogniser: str
    said: dict[str, Timed]
    messages: list[Message]


def shape(recogniser: str, said: dict[str, Timed], messages: str) -> Shape:
    return Shape(recogniser, said, json.loads(f"[{messages}]"))


def seconds(word: str, start: float, end: float, **more: object) -> dict[str, object]:
    return {"word": word, "start": start, "end": end, **more}


GOOD_DAY: Timed = [("good", 100, 400), ("day", 500, 900)]

SHAPES = {
    "azure batch of two channels": shape(
        "azure",
        {"/0": GOOD_DAY[:1], "/1": [("good", 60100, 60655), ("day", 60655, 61100)]},
        r"""
        {"recognizedPhrases": [{"channel": 0, "offset": "PT1M0.1S", "duration": "PT1S",
          "nBest": [{"lexical": "good day", "words": [{"word": "good", "offset": "PT0.1S",
          "duration": "PT0.3S"}]}]}, {"channel": 1, "offset": "PT1M0.1S", "duration": "PT1S",
          "nBest": [{"lexical": "good day", "words": []}]}]}
        """,
    ),
    "azure fast transcription": shape(
        "azure",
        {"/2": GOOD_DAY},
        r"""
        {"durationMilliseconds": 900, "combinedPhrases": [{"text": "Good day."}], "phrases": [{"speaker": 2,
          "text": "Good day.", "words": [{"text": "good", "offsetMilliseconds": 100, "durationMilliseconds": 300},
          {"text": "day.", "offsetMilliseconds": 500, "durationMilliseconds": 400}]}]}
        """,
    ),
    "google's operation": shape(
        "google",
        {"": [("good", 0, 1111), ("day", 1111, 2000)]},
        r"""
        {"name": "7", "done": true, "response": {"@type": "LongRunningRecognizeResponse",
          "results": [{"alternatives": [{"transcript": "good day"}], "resultEndTime": "2s"}]}}
        """,
    ),
    "google's batch of version 2": shape(
        "google",
        {"/file 1": GOOD_DAY[:1], "/file 2": GOOD_DAY[1:]},
        r"""
        {"response": {"results": {"gs://a/b.wav":
          {"inlineResult": {"transcript": {"results": [{"alternatives": [{"words": [{"word": "good",
          "startOffset": "0.1s", "endOffset": "0.4s"}]}]}]}}},
          "gs://a/c.wav": {"transcript": {"results": [{"alternatives": [{"words": [{"word": "day",
          "startOffset": "0.5s", "endOffset": "0.9s"}]}]}]}}}}}
        """,
    ),
    "hugging face's words": shape(
        "whisper",
        {"": [("Good", 100, 400), ("day", 500, 680)]},
        r"""
        {"text": " Good day", "chunks": [{"text": " Good", "timestamp": [0.1, 0.4]}, {"text": " day.",
          "timestamp": [0.5, null]}]}
        """,
    ),
    "hugging face's speakers": shape(
        "whisper",
        {"/SPEAKER_01": [("good", 0, 1000), ("day", 1000, 1800)]},
        r"""
        {"text": "good day", "chunks": [{"text": " good day", "timestamp": [0, 1]}],
          "speakers": [{"speaker": "SPEAKER_01", "text": " good day", "timestamp": [0, 1.8]}]}
        """,
    ),
    "openai's plain answer": shape(
        "whisper",
        {"": [("Good", None, None), ("day", None, None)]},
        r"""
        {"text": "Good day.", "usage": {"type": "duration", "seconds": 1}}
        """,
    ),
    "openai's stream": shape(
        "whisper",
        {"": [("Good", None, None), ("day", None, None)]},
        r"""
        {"type": "transcript.text.delta", "delta": "Good"},
        {"type": "transcript.text.done", "text": "Good day.", "usage": {}}
        """,
    ),
    "openai's stream with speakers": shape(
        "whisper",
        {"/A": [("good", 0, 1000), ("day", 1000, 1800)]},
        r"""
        {"type": "transcript.text.segment", "id": "1", "start": 0, "end": 1.8, "text": "good day", "speaker": "A"},
        {"type": "transcript.text.done", "text": "good day"}
        """,
    ),
    "amazon's batch without its job": shape(
        "aws",
        {"": GOOD_DAY[:1]},
        r"""
        {"results": {"transcripts": [{"transcript": "good"}], "items": [{"type": "pronunciation",
          "start_time": "0.1", "end_time": "0.4", "alternatives": [{"content": "good", "confidence": "0.9"}]}]}}
        """,
    ),
    "amazon's call analytics": shape(
        "aws",
        {"/AGENT": GOOD_DAY},
        r"""
        {"Channel": "VOICE", "Transcript": [{"Id": "a", "ParticipantRole": "AGENT", "BeginOffsetMillis": 100,
          "EndOffsetMillis": 900, "Content": "Good day.", "Items": [{"Type": "pronunciation", "Content": "good",
          "BeginOffsetMillis": 100, "EndOffsetMillis": 400}, {"Type": "pronunciation", "Content": "day",
          "BeginOffsetMillis": 500, "EndOffsetMillis": 900}, {"Type": "punctuation", "Content": "."}]}]}
        """,
    ),
    "contact lens": shape(
        "aws",
        {"/CUSTOMER": [("Good", 0, 500), ("day", 500, 900)]},
        r"""
        {"Participants": [{"ParticipantId": "p1", "ParticipantRole": "CUSTOMER"}], "Transcript": [{"Id": "a",
          "ParticipantId": "p1", "BeginOffsetMillis": 0, "EndOffsetMillis": 900, "Content": "Good day."}]}
        """,
    ),
    "contact lens, live": shape(
        "aws",
        {"/AGENT": [("Good", 0, 500), ("day", 500, 900)]},
        r"""
        {"EventType": "SEGMENTS", "Segments": [{"Utterance": {"Id": "a", "PartialContent": "Good"}}]},
        {"Segments": [{"Transcript": {"Id": "a", "ParticipantRole": "AGENT", "Content": "Good day.",
          "BeginOffsetMillis": 0, "EndOffsetMillis": 900}}]}
        """,
    ),
    "elevenlabs": shape(
        "elevenlabs",
        {"/speaker_0": GOOD_DAY},
        r"""
        {"language_code": "en", "language_probability": 0.9, "text": "Good day.", "words": [{"text": "good",
          "start": 0.1, "end": 0.4, "type": "word", "speaker_id": "speaker_0"}, {"text": " ", "start": 0.4,
          "end": 0.5, "type": "spacing", "speaker_id": "speaker_0"}, {"text": "day.", "start": 0.5, "end": 0.9,
          "type": "word", "speaker_id": "speaker_0"}, {"text": "(laughter)", "start": 1, "end": 2,
          "type": "audio_event", "speaker_id": "speaker_0"}]}
        """,
    ),
    "elevenlabs, live": shape(
        "elevenlabs",
        {"": [("good", 100, 400), ("day", 500, 900), ("So", None, None), ("long", None, None)]},
        r"""
        {"message_type": "session_started"},
        {"message_type": "partial_transcript", "text": "good"},
        {"message_type": "committed_transcript", "text": "Good day."},
        {"message_type": "committed_transcript_with_timestamps", "text": "Good day.", "words": [{"text": "good",
          "start": 0.1, "end": 0.4, "type": "word"}, {"text": "day", "start": 0.5, "end": 0.9, "type": "word"}]},
        {"message_type": "committed_transcript", "text": "So long."}
        """,
    ),
    "speechmatics, live": shape(
        "speechmatics",
        {"": GOOD_DAY},
        r"""
        {"message": "RecognitionStarted", "id": "x"},
        {"message": "AddPartialTranscript", "metadata": {}, "results": []},
        {"message": "AddTranscript", "metadata": {"transcript": "good day.", "start_time": 0.1, "end_time": 0.9},
          "results": [{"type": "word", "start_time": 0.1, "end_time": 0.4, "alternatives": [{"content": "good"}]},
          {"type": "word", "start_time": 0.5, "end_time": 0.9, "alternatives": [{"content": "day"}]},
          {"type": "punctuation", "start_time": 0.9, "end_time": 0.9, "alternatives": [{"content": "."}]}]}
        """,
    ),
    "funasr's generate": shape(
        "funasr",
        {"": GOOD_DAY},
        r"""
        {"key": "call", "text": "good day", "timestamp": [[100, 400], [500, 900]]}
        """,
    ),
    "funasr's speakers": shape(
        "funasr",
        {"/0": GOOD_DAY[:1], "/1": GOOD_DAY[1:]},
        r"""
        {"key": "call", "text": "good, day。", "timestamp": [[100, 400], [500, 900]],
          "sentence_info": [{"text": "good,", "start": 100, "end": 400, "timestamp": [[100, 400]], "spk": 0},
          {"text": "day。", "start": 500, "end": 900, "timestamp": [[500, 900]], "spk": 1}]}
        """,
    ),
    "sherpa-onnx offline": shape(
        "sherpa-onnx",
        {"": GOOD_DAY},
        r"""
        {"text": "good day", "tokens": ["▁go", "od", "▁day"], "timestamps": [0.1, 0.2, 0.5], "durations": [0.1, 0.2,
          0.4]}
        """,
    ),
    "soniox of a recording": shape(
        "soniox",
        {"": GOOD_DAY},
        r"""
        {"id": "t", "text": "Good day", "tokens": [{"text": "go", "start_ms": 100, "end_ms": 200}, {"text": "od",
          "start_ms": 200, "end_ms": 400}, {"text": " day", "start_ms": 500, "end_ms": 900}]}
        """,
    ),
    "deepgram's envelope": shape(
        "deepgram",
        {"": GOOD_DAY},
        r"""
        {"error": null, "result": {"results": {"channels": [{"alternatives": [{"words": [{"word": "good",
          "start": 0.1, "end": 0.4}, {"word": "day", "start": 0.5, "end": 0.9}]}]}]}}}
        """,
    ),
    "youtube's json3": shape(
        "youtube",
        {"": [("good", 100, 340), ("day", 500, 680), ("so", 2000, 2300), ("long", 2300, 2800)]},
        r"""
        {"wireMagic": "pb3", "events": [{"tStartMs": 0, "dDurationMs": 9000, "id": 1}, {"tStartMs": 100,
          "dDurationMs": 3000, "segs": [{"utf8": "good"}, {"utf8": " day", "tOffsetMs": 400}]}, {"tStartMs": 900,
          "aAppend": 1, "segs": [{"utf8": "\n"}]}, {"tStartMs": 900, "dDurationMs": 500,
          "segs": [{"utf8": "[Music]"}]}, {"tStartMs": 2000, "dDurationMs": 800, "segs": [{"utf8": "so\nlong"}]}]}
        """,
    ),
    "a podcast's transcript": shape(
        "podcast",
        {"/Anna Berg": GOOD_DAY, "/Ben": [("so", 2000, 2333), ("it", 2333, 2666), ("is", 2666, 3000)]},
        r"""
        {"version": "1.0.0", "segments": [
          {"speaker": "Anna Berg", "startTime": 0.1, "endTime": 0.4, "body": "good"},
          {"speaker": "Anna Berg", "startTime": 0.4, "endTime": 0.4, "body": ","},
          {"speaker": "Anna Berg", "startTime": 0.5, "endTime": 0.9, "body": "day (door"},
          {"speaker": "Anna Berg", "startTime": 0.9, "endTime": 1.2, "body": "slams)."},
          {"speaker": "Ben", "startTime": 2, "endTime": 3, "body": "so"},
          {"speaker": "Ben", "startTime": 2, "endTime": 3, "body": "it is."}]}
        """,
    ),
    "gladia of a recording": shape(
        "gladia",
        {"/1": GOOD_DAY},
        r"""
        {"status": "done", "result": {"transcription": {"full_transcript": "good day",
          "utterances": [{"text": "good day", "channel": 0, "speaker": 1, "words": [{"word": " good", "start": 0.1,
          "end": 0.4}, {"word": " day.", "start": 0.5, "end": 0.9}]}]}}}
        """,
    ),
    "gladia, live": shape(
        "gladia",
        {"": GOOD_DAY},
        r"""
        {"type": "transcript", "data": {"id": "0-1", "is_final": false, "utterance": {"text": "good"}}},
        {"type": "transcript", "data": {"id": "0-1", "is_final": true, "utterance": {"words": [{"word": "good",
          "start": 0.1, "end": 0.4}, {"word": "day", "start": 0.5, "end": 0.9}], "channel": 0}}},
        {"type": "post_transcript", "data": {"full_transcript": "good day"}}
        """,
    ),
    "rev.ai": shape(
        "revai",
        {"/0": GOOD_DAY},
        r"""
        {"monologues": [{"speaker": 0, "elements": [{"type": "text", "value": "good", "ts": 0.1, "end_ts": 0.4},
          {"type": "punct", "value": " "}, {"type": "text", "value": "day", "ts": 0.5, "end_ts": 0.9},
          {"type": "punct", "value": "."}]}]}
        """,
    ),
    "rev.ai, live": shape(
        "revai",
        {"": GOOD_DAY},
        r"""
        {"type": "connected", "id": "x"},
        {"type": "partial", "elements": [{"type": "text", "value": "good"}]},
        {"type": "final", "ts": 0.1, "end_ts": 0.9, "elements": [{"type": "text", "value": "good", "ts": 0.1,
          "end_ts": 0.4}, {"type": "text", "value": "day", "ts": 0.5, "end_ts": 0.9}]}
        """,
    ),
    "watson's speakers": shape(
        "watson",
        {"/0": GOOD_DAY[:1], "/1": GOOD_DAY[1:]},
        r"""
        {"result_index": 0, "results": [{"final": true, "alternatives": [{"transcript": "good day ",
          "timestamps": [["good", 0.1, 0.4], ["day", 0.5, 0.9]]}]}], "speaker_labels": [{"from": 0.1, "to": 0.4,
          "speaker": 0}, {"from": 0.5, "to": 0.9, "speaker": 1}]}
        """,
    ),
    "watson's job": shape(
        "watson",
        {"": GOOD_DAY},
        r"""
        {"status": "completed", "results": [{"result_index": 0, "results": [{"final": true,
          "alternatives": [{"timestamps": [["good", 0.1, 0.4], ["day", 0.5, 0.9]]}]}]}]}
        """,
    ),
    "riva, live": shape(
        "riva",
        {"": GOOD_DAY},
        r"""
        {"results": [{"is_final": true, "audio_processed": 1.0, "alternatives": [{"transcript": "good day",
          "words": [{"word": "good", "start_time": 100, "end_time": 400}, {"word": "day", "start_time": 500,
          "end_time": 900}]}]}]}
        """,
    ),
    "whisperlivekit": shape(
        "whisperlivekit",
        {"/1": [("good", 0, 555), ("day", 555, 1000)], "/2": [("so", 2000, 3000)]},
        r"""
        {"type": "config", "useAudioWorklet": true},
        {"lines": [{"speaker": 1, "text": "good", "start": "0:00:00", "end": "0:00:01"}],
          "buffer_transcription": "da"},
        {"lines": [{"speaker": 1, "text": "good day", "start": "0:00:00", "end": "0:00:01"}, {"speaker": 2,
          "text": "so", "start": "0:00:02", "end": "0:00:03"}], "buffer_transcription": ""},
        {"type": "ready_to_stop"}
        """,
    ),
    "livekit": shape(
        "livekit",
        {"/anna": [("Good", None, None), ("day", None, None)]},
        r"""
        {"transcribedParticipantIdentity": "anna", "trackId": "t", "segments": [{"id": "S1", "text": "Good",
          "startTime": 0, "endTime": 0, "final": false}]},
        {"transcribedParticipantIdentity": "anna", "trackId": "t", "segments": [{"id": "S1", "text": "Good day.",
          "startTime": 0, "endTime": 0, "final": true}]}
        """,
    ),
    "pipecat": shape(
        "pipecat",
        {"": [("good", None, None), ("day", None, None)]},
        r"""
        {"label": "rtvi-ai", "type": "bot-ready", "data": {"version": "1"}},
        {"label": "rtvi-ai", "type": "user-transcription", "data": {"text": "good day", "final": true}},
        {"label": "rtvi-ai", "type": "bot-transcription", "data": {"text": "not this"}}
        """,
    ),
    "twilio's webhooks": shape(
        "twilio",
        {"/inbound": [("good", None, None), ("day", None, None)]},
        r"""
        {"TranscriptionEvent": "transcription-started", "SequenceId": "1"},
        {"TranscriptionEvent": "transcription-content", "Track": "inbound_track", "Final": "true",
          "TranscriptionData": "{\"transcript\": \"good day\", \"confidence\": 0.9}"}
        """,
    ),
    "twilio's sentences": shape(
        "twilio",
        {"/1": GOOD_DAY},
        r"""
        {"sentences": [{"media_channel": 1, "transcript": "Good day.", "words": [{"word": "good",
          "start_time": "0.1", "end_time": "0.4"}, {"word": "day", "start_time": "0.5", "end_time": "0.9"}]}]}
        """,
    ),
    "twilio's relay": shape(
        "twilio",
        {"": [("good", None, None), ("day", None, None)]},
        r"""
        {"type": "prompt", "voicePrompt": "good ", "last": false},
        {"type": "prompt", "voicePrompt": "day", "last": true}
        """,
    ),
    "jambonz' webhooks": shape(
        "jambonz",
        {"/2": [("Good", None, None), ("day", None, None)]},
        r"""
        {"call_sid": "c", "speech": {"is_final": false, "channel_tag": 2, "alternatives": [{"confidence": 0.9,
          "transcript": "good"}]}},
        {"call_sid": "c", "speech": {"is_final": true, "channel_tag": 2, "alternatives": [{"confidence": 0.9,
          "transcript": "Good day."}]}}
        """,
    ),
    "jambonz over a WebSocket": shape(
        "jambonz",
        {"": [("good", None, None), ("day", None, None)]},
        r"""
        {"type": "verb:hook", "data": {"speech": {"transcripts": [{"is_final": true,
          "alternatives": [{"transcript": "good day"}]}]}}}
        """,
    ),
    "bandwidth's tracks": shape(
        "bandwidth",
        {"/inbound": GOOD_DAY},
        r"""
        {"eventType": "start", "metadata": {}},
        {"eventType": "transcription", "track": "inbound", "startTime": "2026-11-28T10:00:00.900Z",
          "endTime": "2026-11-28T10:00:01.900Z", "isPartial": true, "items": [{"content": "good",
          "startTime": "2026-11-28T10:00:01.000Z", "endTime": "2026-11-28T10:00:01.300Z", "type": "PRONUNCIATION"},
          {"content": "day", "startTime": "2026-11-28T10:00:01.400Z", "endTime": "2026-11-28T10:00:01.800Z",
          "type": "PRONUNCIATION"}, {"content": ".", "startTime": "2026-11-28T10:00:01.800Z",
          "endTime": "2026-11-28T10:00:01.800Z", "type": "PUNCTUATION"}]},
        {"eventType": "transcription", "track": "inbound", "startTime": "2026-11-28T10:00:00.900Z",
          "endTime": "2026-11-28T10:00:01.900Z", "isPartial": false, "items": [{"content": "good",
          "startTime": "2026-11-28T10:00:01.000Z", "endTime": "2026-11-28T10:00:01.300Z", "type": "PRONUNCIATION"},
          {"content": "day", "startTime": "2026-11-28T10:00:01.400Z", "endTime": "2026-11-28T10:00:01.800Z",
          "type": "PRONUNCIATION"}, {"content": ".", "startTime": "2026-11-28T10:00:01.800Z",
          "endTime": "2026-11-28T10:00:01.800Z", "type": "PUNCTUATION"}]}
        """,
    ),
    "speechmatics' entities as they were spoken": shape(
        "speechmatics",
        {"/S1": GOOD_DAY},
        r"""
        {"results": [{"type": "entity", "start_time": 0.1, "end_time": 0.9, "alternatives": [{"content": "1.1.",
          "speaker": "S1"}], "spoken_form": [{"type": "word", "start_time": 0.1, "end_time": 0.4,
          "alternatives": [{"content": "good"}]}, {"type": "word", "start_time": 0.5, "end_time": 0.9,
          "alternatives": [{"content": "day"}]}]}]}
        """,
    ),
    "azure's results of JavaScript as JSON": shape(
        "azure",
        {"": GOOD_DAY},
        r"""
        {"privReason": 3,
          "privJson": "{\"RecognitionStatus\": 0, \"NBest\": [{\"Words\": [{\"Word\": \"good\", \"Offset\": 1000000, \"Duration\": 3000000}, {\"Word\": \"day\", \"Offset\": 5000000, \"Duration\": 4000000}]}]}"}
        """,  # noqa: E501 - JSON within JSON
    ),
    "aws' speakers by the times of their segments": shape(
        "aws",
        {"/0": GOOD_DAY[:1], "/1": GOOD_DAY[1:]},
        r"""
        {"jobName": "a", "results": {"transcripts": [], "speaker_labels": {"segments": [{"start_time": "0.1",
          "speaker_label": "spk_0", "items": []}, {"start_time": "0.45", "speaker_label": "spk_1", "items": []}]},
          "items": [{"type": "pronunciation", "start_time": "0.1", "end_time": "0.4",
          "alternatives": [{"content": "good"}]}, {"type": "pronunciation", "start_time": "0.5", "end_time": "0.9",
          "alternatives": [{"content": "day"}]}]}}
        """,
    ),
    "riva without the audio processed": shape(
        "riva",
        {"": GOOD_DAY},
        r"""
        {"results": [{"alternatives": [{"words": [{"word": "good", "startTime": 100, "endTime": 400},
          {"word": "day", "startTime": 500, "endTime": 900}]}]}]}
        """,
    ),
    "hugging face's chunks alone": shape(
        "whisper",
        {"": [("Good", 100, 400), ("day", 500, 900)]},
        r"""
        {"text": " Good", "timestamp": [0.1, 0.4]},
        {"text": " day.", "timestamp": [0.5, 0.9]}
        """,
    ),
    "whisperx' words alone": shape(
        "whisper",
        {"": GOOD_DAY},
        r"""
        {"word": "good", "start": 0.1, "end": 0.4, "score": 0.9},
        {"word": "day.", "start": 0.5, "end": 0.9, "score": 0.8}
        """,
    ),
    "openai's plain answer without its cost": shape(
        "whisper",
        {"": [("Good", None, None), ("day", None, None)]},
        r"""
        {"text": "Good day."}
        """,
    ),
    "google's marks of words in a transcript": shape(
        "google",
        {"": [("good", None, None), ("day", None, None)]},
        r"""
        {"results": [{"alternatives": [{"transcript": "▁good▁day"}]}]}
        """,
    ),
    "azure communication services": shape(
        "azure-communication",
        {"/8:anna": GOOD_DAY},
        r"""
        {"kind": "TranscriptionMetadata", "transcriptionMetadata": {"locale": "en"}},
        {"kind": "TranscriptionData", "transcriptionData": {"text": "Good day.", "offset": 1000000,
          "duration": 8000000, "words": [{"text": "good", "offset": 1000000, "duration": 3000000}, {"text": "day",
          "offset": 5000000, "duration": 4000000}], "participantRawID": "8:anna", "resultState": "Final"}}
        """,
    ),
    "elevenlabs' webhook": shape(
        "elevenlabs",
        {"/speaker_0": GOOD_DAY[:1], "/speaker_1": GOOD_DAY[1:]},
        r"""
        {"type": "speech_to_text_transcription", "data": {"request_id": "a", "transcription": {"text": "good day",
          "words": [{"text": "good", "start": 0.1, "end": 0.4, "type": "word", "speaker_id": "speaker_0"},
          {"text": "day", "start": 0.5, "end": 0.9, "type": "word", "speaker_id": "speaker_1"}]}}}
        """,
    ),
    "elevenlabs' library for Node": shape(
        "elevenlabs",
        {"/speaker_0": GOOD_DAY},
        r"""
        {"languageCode": "eng", "text": "good day", "words": [{"text": "good", "start": 0.1, "end": 0.4,
          "type": "word", "speakerId": "speaker_0"}, {"text": "day", "start": 0.5, "end": 0.9, "type": "word",
          "speakerId": "speaker_0"}]}
        """,
    ),
    "whisperlivekit's differences": shape(
        "whisperlivekit",
        {"/1": [("good", 0, 555), ("day", 555, 1000)], "/2": [("so", 2000, 3000)], "/3": [("long", 4000, 5000)]},
        r"""
        {"type": "config", "mode": "diff"},
        {"type": "snapshot", "seq": 1, "lines": [{"speaker": 1, "text": "good", "start": "0:00:00",
          "end": "0:00:01"}], "buffer_transcription": ""},
        {"type": "diff", "seq": 2, "n_lines": 1, "buffer_transcription": "da"},
        {"type": "diff", "seq": 3, "n_lines": 3, "new_lines": [{"speaker": 1, "text": "good day",
          "start": "0:00:00", "end": "0:00:01"}, {"speaker": -2, "text": null, "start": "0:00:01",
          "end": "0:00:02"}, {"speaker": 2, "text": "so", "start": "0:00:02", "end": "0:00:03"}],
          "buffer_transcription": ""},
        {"type": "diff", "seq": 4, "n_lines": 2, "lines_pruned": 2, "new_lines": [{"speaker": 3, "text": "long",
          "start": "0:00:04", "end": "0:00:05"}], "buffer_transcription": ""},
        {"type": "ready_to_stop"}
        """,
    ),
    "whisperlivekit without its first lines": shape(
        "whisperlivekit",
        {"": [("so", 0, 1000), ("so", 2000, 3000), ("so", 2000, 4000), ("long", 5000, 6000)]},
        r"""
        {"lines": [{"text": "so", "start": "0:00:00", "end": "0:00:01"}, {"text": "so", "start": "0:00:02",
          "end": "0:00:03"}, {"text": "so", "start": "0:00:02", "end": "0:00:04"}], "buffer_transcription": ""},
        {"lines": [{"text": "so", "start": "0:00:02", "end": "0:00:04"}], "buffer_transcription": ""},
        {"lines": [{"text": "so", "start": "0:00:02", "end": "0:00:04"}, {"text": "long", "start": "0:00:05",
          "end": "0:00:06"}], "buffer_transcription": ""}
        """,
    ),
    "livekit's agents": shape(
        "livekit",
        {"/1": [("Good", None, None), ("day", None, None)]},
        r"""
        {"type": "user_input_transcribed", "transcript": "good", "is_final": false, "speaker_id": null},
        {"type": "user_input_transcribed", "transcript": "Good day.", "is_final": true, "speaker_id": "1"}
        """,
    ),
    "twilio's sentences from its library for Node": shape(
        "twilio",
        {"/1": GOOD_DAY},
        r"""
        {"mediaChannel": 1, "sentenceIndex": 0, "startTime": 0.1, "endTime": 0.9, "transcript": "Good day.",
          "words": [{"word": "good", "startTime": 0.1, "endTime": 0.4}, {"word": "day", "startTime": 0.5,
          "endTime": 0.9}]}
        """,
    ),
    "twilio's recording": shape(
        "twilio",
        {"": [("good", None, None), ("day", None, None)]},
        r"""
        {"TranscriptionSid": "a", "TranscriptionStatus": "completed", "TranscriptionText": "good day"}
        """,
    ),
    "twilio's gather": shape(
        "twilio",
        {"": [("good", None, None), ("day", None, None)]},
        r"""
        {"CallSid": "a", "SpeechResult": "good day.", "Confidence": "0.9", "Language": "en-US"}
        """,
    ),
    "bandwidth's recording": shape(
        "bandwidth",
        {"/0": [("good", None, None)], "/1": [("day", None, None)]},
        r"""
        {"transcripts": [{"speaker": 0, "text": "good", "confidence": 0.9}, {"speaker": 1, "text": "day."}]}
        """,
    ),
    "livekit's segments in a browser": shape(
        "livekit",
        {"/anna": [("good", None, None), ("day", None, None)]},
        r"""
        {"participantIdentity": "anna", "segments": [{"id": "a", "text": "good", "final": false}]},
        {"participantIdentity": "anna", "segments": [{"id": "a", "text": "good day.", "final": true}]}
        """,
    ),
    "amazon's analysed call as it comes": shape(
        "aws",
        {"/AGENT": GOOD_DAY},
        r"""
        {"UtteranceEvent": {"UtteranceId": "a", "ParticipantRole": "AGENT", "IsPartial": false, "Items": [
          {"ItemType": "pronunciation", "Content": "good", "BeginOffsetMillis": 100, "EndOffsetMillis": 400},
          {"ItemType": "pronunciation", "Content": "day", "BeginOffsetMillis": 500, "EndOffsetMillis": 900},
          {"ItemType": "punctuation", "Content": "."}]}}
        """,
    ),
    "youtube's written captions": shape(
        "youtube",
        {
            "/ANNA": [("Good", 0, 625), ("day", 625, 1125), ("to", 1125, 1500), ("you", 1500, 2000)],
            "/BEN": [("So", 2000, 3000)],
        },
        r"""
        {"events": [{"tStartMs": 0, "dDurationMs": 4000, "segs": [{"utf8": "ANNA: Good day\nto you [door"}]},
          {"tStartMs": 2000, "dDurationMs": 1000, "segs": [{"utf8": "slams]"}]},
          {"tStartMs": 2000, "dDurationMs": 1000, "segs": [{"utf8": "BEN: So."}]},
          {"tStartMs": 3000, "dDurationMs": 1000, "segs": [{"utf8": "ANNA: (sighs)"}]}]}
        """,
    ),
    "youtube's captions by their library": shape(
        "youtube",
        {"": [("good", 100, 500), ("day", 500, 900)]},
        r"""
        {"text": "good [Music]", "start": 0.1, "duration": 2.5}, {"text": "day", "start": 0.5, "duration": 0.4}
        """,
    ),
    "a vCon's transcript": shape(
        "whisper",
        {"/0": GOOD_DAY[:1], "/1": GOOD_DAY[1:]},
        r"""
        {"transcript": {"text": "good day", "language": "en"}, "segments": [{"id": 0, "start": 0.1, "end": 0.4,
          "text": "good", "speaker": 0, "words": [0]}, {"id": 1, "start": 0.5, "end": 0.9, "text": "day.", "speaker": 1,
          "words": [1, 2]}],
          "words": [{"id": 0, "start": 0.1, "end": 0.4, "text": "good"}, {"id": 1, "start": 0.5, "end": 0.9,
          "text": "day"}, {"id": 2, "start": 0.9, "end": 0.9, "text": ".", "is_punctuation": true}],
          "metadata": {"provider": "x"}}
        """,
    ),
    "whisper's sound over two segments": shape(
        "whisper",
        {"": GOOD_DAY},
        r"""
        {"segments": [{"start": 0.1, "end": 0.4, "text": " good (door"}, {"start": 0.4, "end": 0.5,
          "text": " slams)"}, {"start": 0.5, "end": 0.9, "text": " day"}]}
        """,
    ),
    "rev.ai's noises": shape(
        "revai",
        {"": GOOD_DAY},
        r"""
        {"type": "final", "ts": 0.1, "end_ts": 0.9, "elements": [
          {"type": "text", "value": "<laugh>", "ts": 0, "end_ts": 0.1},
          {"type": "text", "value": "good", "ts": 0.1, "end_ts": 0.4},
          {"type": "text", "value": "day", "ts": 0.5, "end_ts": 0.9}]}
        """,
    ),
    "assemblyai's noises": shape(
        "assemblyai",
        {"": GOOD_DAY},
        r"""
        {"type": "Turn", "turn_order": 0, "end_of_turn": true, "transcript": "good day [MUSIC]", "words": [
          {"text": "good", "start": 100, "end": 400, "word_is_final": true},
          {"text": "day", "start": 500, "end": 900, "word_is_final": true},
          {"text": "[MUSIC]", "start": 900, "end": 1900, "word_is_final": true}]}
        """,
    ),
    "vosk's noises": shape(
        "vosk",
        {"": [("good", 1000, 1500), ("[unk]", 3000, 3500), ("day", 4000, 4500)]},
        r"""
        {"text": "!SIL good <laugh> [unk] day", "result": [{"word": "!SIL", "start": 0, "end": 0.5},
          {"word": "good", "start": 1, "end": 1.5}, {"word": "<laugh>", "start": 2, "end": 2.5}, {"word": "[unk]",
          "start": 3, "end": 3.5}, {"word": "day", "start": 4, "end": 4.5}]}
        """,
    ),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
def test_a_shape_is_known_as_its_makers_and_read_word_for_word(shape: Shape) -> None:
    events = fed(shape.recogniser, shape.messages)
    sessions = Counter(event.session.removeprefix("s") for event in events if event.words)
    assert set(sessions) == set(shape.said)
    assert {name: timed(events, f"s{name}") for name in sessions} == shape.said
    assert told_apart(shape.recogniser, shape.messages)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
def test_no_message_of_a_shape_is_taken_for_another_makers(shape: Shape) -> None:
    found = {recogniser_of(message) for message in shape.messages}
    assert found <= {RecogniserName(shape.recogniser), None}


# A new stream begins anew.


def google(said: str, end_s: float, *, final: bool = False, request: str = "") -> Message:
    result = {"alternatives": [{"transcript": said}], "isFinal": final, "resultEndTime": f"{end_s}s"}
    return {"results": [result]} | ({"requestId": request} if request else {})


_WORDS = st.lists(st.sampled_from(["yes", "no", "so", "we", "go"]), min_size=1, max_size=6)


@given(streams=st.lists(st.lists(_WORDS, min_size=1, max_size=4), min_size=2, max_size=4), named=st.booleans())
def test_a_new_stream_of_a_recogniser_loses_no_word_and_doubles_none(
    streams: list[list[list[str]]], *, named: bool
) -> None:
    """Each stream's utterances grow word by word; its times begin at nought again."""
    messages: list[Message] = []
    for number, utterances in enumerate(streams, start=1):
        at_s = 0.0
        for place, said in enumerate(utterances):
            for length in range(1, len(said) + 1):
                at_s += 1 if place or length > 1 else 0.5
                final = length == len(said)
                request = str(number) if named else ""
                messages.append(google(" ".join(said[:length]), at_s, final=final, request=request))
        if not named:
            messages.append(google("yes", at_s + 3, final=True))
    expected = [
        word
        for utterances in streams
        for word in [word for said in utterances for word in said] + ([] if named else ["yes"])
    ]
    assert texts(fed("google", messages)) == expected


# Whatever stands in a field: words or a refusal, never another error.

_JUNK: st.SearchStrategy[object] = st.sampled_from(
    [None, True, -1, 1e308, 10**20, "", "secret", [], {}, [[]], [{}], [None], {"a": {}}]
)


def _places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    return [path, *(place for key, one in inner for place in _places(one, (*path, key)))]


@given(shape=st.sampled_from(list(SHAPES.values())), data=st.data())
def test_a_message_with_junk_in_a_field_is_read_or_refused(shape: Shape, data: st.DataObject) -> None:
    messages = json.loads(json.dumps(shape.messages))
    place = data.draw(st.sampled_from([one for one in _places(messages) if len(one) > 1]))
    inside = messages
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = data.draw(_JUNK)
    for message in messages:
        recogniser_of(message)
    with contextlib.suppress(FatalError, InvalidEventError):
        fed(shape.recogniser, messages)
