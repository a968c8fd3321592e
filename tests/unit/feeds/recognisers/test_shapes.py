"""Shapes of recognisers' files and messages: each is known as its maker's alone, and read word for word."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.errors import InvalidEventError
from caesura.worker.errors import FatalError
from caesura.worker.feeds.recognisers.catalogue import RecogniserName, recogniser_of
from tests.unit.feeds.spoken import Message, fed, texts, timed, told_apart

Timed = list[tuple[str, int | None, int | None]]


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What a recogniser writes. said: each session's words, by its name behind the connection's."""

    recogniser: str
    messages: list[Message]
    said: dict[str, Timed]


def seconds(word: str, start: float, end: float, **more: object) -> dict[str, object]:
    return {"word": word, "start": start, "end": end, **more}


_MINUTE = "2026-11-28T10:00:"
GOOD_DAY: Timed = [("good", 100, 400), ("day", 500, 900)]

SHAPES = {
    "azure batch of two channels": Shape(
        recogniser="azure",
        messages=[
            {
                "recognizedPhrases": [
                    {
                        "channel": channel,
                        "offset": "PT1M0.1S",
                        "duration": "PT1S",
                        "nBest": [{"lexical": "good day", "words": words}],
                    }
                    for channel, words in (
                        (0, [{"word": "good", "offset": "PT0.1S", "duration": "PT0.3S"}]),
                        (1, []),
                    )
                ]
            }
        ],
        said={"/0": [("good", 100, 400)], "/1": [("good", 60_100, 60_655), ("day", 60_655, 61_100)]},
    ),
    "azure fast transcription": Shape(
        recogniser="azure",
        messages=[
            {
                "durationMilliseconds": 900,
                "combinedPhrases": [{"text": "Good day."}],
                "phrases": [
                    {
                        "speaker": 2,
                        "text": "Good day.",
                        "words": [
                            {"text": "good", "offsetMilliseconds": 100, "durationMilliseconds": 300},
                            {"text": "day.", "offsetMilliseconds": 500, "durationMilliseconds": 400},
                        ],
                    }
                ],
            }
        ],
        said={"/2": GOOD_DAY},
    ),
    "google's operation": Shape(
        recogniser="google",
        messages=[
            {
                "name": "7",
                "done": True,
                "response": {
                    "@type": "LongRunningRecognizeResponse",
                    "results": [{"alternatives": [{"transcript": "good day"}], "resultEndTime": "2s"}],
                },
            }
        ],
        said={"": [("good", 0, 1111), ("day", 1111, 2000)]},
    ),
    "google's batch of version 2": Shape(
        recogniser="google",
        messages=[
            {
                "response": {
                    "results": {
                        "gs://a/b.wav": {
                            "inlineResult": {
                                "transcript": {
                                    "results": [
                                        {
                                            "alternatives": [
                                                {
                                                    "words": [
                                                        {"word": "good", "startOffset": "0.1s", "endOffset": "0.4s"}
                                                    ]
                                                }
                                            ]
                                        }
                                    ]
                                }
                            }
                        },
                        "gs://a/c.wav": {
                            "transcript": {
                                "results": [
                                    {
                                        "alternatives": [
                                            {"words": [{"word": "day", "startOffset": "0.5s", "endOffset": "0.9s"}]}
                                        ]
                                    }
                                ]
                            }
                        },
                    }
                }
            }
        ],
        said={"/file 1": GOOD_DAY[:1], "/file 2": GOOD_DAY[1:]},
    ),
    "hugging face's words": Shape(
        recogniser="whisper",
        messages=[
            {
                "text": " Good day",
                "chunks": [{"text": " Good", "timestamp": [0.1, 0.4]}, {"text": " day.", "timestamp": [0.5, None]}],
            }
        ],
        said={"": [("Good", 100, 400), ("day", 500, 680)]},
    ),
    "hugging face's speakers": Shape(
        recogniser="whisper",
        messages=[
            {
                "text": "good day",
                "chunks": [{"text": " good day", "timestamp": [0, 1]}],
                "speakers": [{"speaker": "SPEAKER_01", "text": " good day", "timestamp": [0, 1.8]}],
            }
        ],
        said={"/SPEAKER_01": [("good", 0, 1000), ("day", 1000, 1800)]},
    ),
    "openai's plain answer": Shape(
        recogniser="whisper",
        messages=[{"text": "Good day.", "usage": {"type": "duration", "seconds": 1}}],
        said={"": [("Good", None, None), ("day", None, None)]},
    ),
    "openai's stream": Shape(
        recogniser="whisper",
        messages=[
            {"type": "transcript.text.delta", "delta": "Good"},
            {"type": "transcript.text.done", "text": "Good day.", "usage": {}},
        ],
        said={"": [("Good", None, None), ("day", None, None)]},
    ),
    "openai's stream with speakers": Shape(
        recogniser="whisper",
        messages=[
            {"type": "transcript.text.segment", "id": "1", "start": 0, "end": 1.8, "text": "good day", "speaker": "A"},
            {"type": "transcript.text.done", "text": "good day"},
        ],
        said={"/A": [("good", 0, 1000), ("day", 1000, 1800)]},
    ),
    "amazon's batch without its job": Shape(
        recogniser="aws",
        messages=[
            {
                "results": {
                    "transcripts": [{"transcript": "good"}],
                    "items": [
                        {
                            "type": "pronunciation",
                            "start_time": "0.1",
                            "end_time": "0.4",
                            "alternatives": [{"content": "good", "confidence": "0.9"}],
                        }
                    ],
                }
            }
        ],
        said={"": GOOD_DAY[:1]},
    ),
    "amazon's call analytics": Shape(
        recogniser="aws",
        messages=[
            {
                "Channel": "VOICE",
                "Transcript": [
                    {
                        "Id": "a",
                        "ParticipantRole": "AGENT",
                        "BeginOffsetMillis": 100,
                        "EndOffsetMillis": 900,
                        "Content": "Good day.",
                        "Items": [
                            {
                                "Type": "pronunciation",
                                "Content": "good",
                                "BeginOffsetMillis": 100,
                                "EndOffsetMillis": 400,
                            },
                            {
                                "Type": "pronunciation",
                                "Content": "day",
                                "BeginOffsetMillis": 500,
                                "EndOffsetMillis": 900,
                            },
                            {"Type": "punctuation", "Content": "."},
                        ],
                    }
                ],
            }
        ],
        said={"/AGENT": GOOD_DAY},
    ),
    "contact lens": Shape(
        recogniser="aws",
        messages=[
            {
                "Participants": [{"ParticipantId": "p1", "ParticipantRole": "CUSTOMER"}],
                "Transcript": [
                    {
                        "Id": "a",
                        "ParticipantId": "p1",
                        "BeginOffsetMillis": 0,
                        "EndOffsetMillis": 900,
                        "Content": "Good day.",
                    }
                ],
            }
        ],
        said={"/CUSTOMER": [("Good", 0, 500), ("day", 500, 900)]},
    ),
    "contact lens, live": Shape(
        recogniser="aws",
        messages=[
            {"EventType": "SEGMENTS", "Segments": [{"Utterance": {"Id": "a", "PartialContent": "Good"}}]},
            {
                "Segments": [
                    {
                        "Transcript": {
                            "Id": "a",
                            "ParticipantRole": "AGENT",
                            "Content": "Good day.",
                            "BeginOffsetMillis": 0,
                            "EndOffsetMillis": 900,
                        }
                    }
                ]
            },
        ],
        said={"/AGENT": [("Good", 0, 500), ("day", 500, 900)]},
    ),
    "elevenlabs": Shape(
        recogniser="elevenlabs",
        messages=[
            {
                "language_code": "en",
                "language_probability": 0.9,
                "text": "Good day.",
                "words": [
                    {"text": "good", "start": 0.1, "end": 0.4, "type": "word", "speaker_id": "speaker_0"},
                    {"text": " ", "start": 0.4, "end": 0.5, "type": "spacing", "speaker_id": "speaker_0"},
                    {"text": "day.", "start": 0.5, "end": 0.9, "type": "word", "speaker_id": "speaker_0"},
                    {"text": "(laughter)", "start": 1, "end": 2, "type": "audio_event", "speaker_id": "speaker_0"},
                ],
            }
        ],
        said={"/speaker_0": GOOD_DAY},
    ),
    "elevenlabs, live": Shape(
        recogniser="elevenlabs",
        messages=[
            {"message_type": "session_started"},
            {"message_type": "partial_transcript", "text": "good"},
            {"message_type": "committed_transcript", "text": "Good day."},
            {
                "message_type": "committed_transcript_with_timestamps",
                "text": "Good day.",
                "words": [
                    {"text": "good", "start": 0.1, "end": 0.4, "type": "word"},
                    {"text": "day", "start": 0.5, "end": 0.9, "type": "word"},
                ],
            },
            {"message_type": "committed_transcript", "text": "So long."},
        ],
        said={"": [*GOOD_DAY, ("So", None, None), ("long", None, None)]},
    ),
    "speechmatics, live": Shape(
        recogniser="speechmatics",
        messages=[
            {"message": "RecognitionStarted", "id": "x"},
            {"message": "AddPartialTranscript", "metadata": {}, "results": []},
            {
                "message": "AddTranscript",
                "metadata": {"transcript": "good day.", "start_time": 0.1, "end_time": 0.9},
                "results": [
                    {"type": kind, "start_time": start, "end_time": end, "alternatives": [{"content": said}]}
                    for kind, said, start, end in (
                        ("word", "good", 0.1, 0.4),
                        ("word", "day", 0.5, 0.9),
                        ("punctuation", ".", 0.9, 0.9),
                    )
                ],
            },
        ],
        said={"": GOOD_DAY},
    ),
    "funasr's generate": Shape(
        recogniser="funasr",
        messages=[{"key": "call", "text": "good day", "timestamp": [[100, 400], [500, 900]]}],
        said={"": GOOD_DAY},
    ),
    "funasr's speakers": Shape(
        recogniser="funasr",
        messages=[
            {
                "key": "call",
                "text": "good, day。",
                "timestamp": [[100, 400], [500, 900]],
                "sentence_info": [
                    {"text": "good,", "start": 100, "end": 400, "timestamp": [[100, 400]], "spk": 0},
                    {"text": "day。", "start": 500, "end": 900, "timestamp": [[500, 900]], "spk": 1},
                ],
            }
        ],
        said={"/0": GOOD_DAY[:1], "/1": GOOD_DAY[1:]},
    ),
    "sherpa-onnx offline": Shape(
        recogniser="sherpa-onnx",
        messages=[
            {
                "text": "good day",
                "tokens": ["▁go", "od", "▁day"],
                "timestamps": [0.1, 0.2, 0.5],
                "durations": [0.1, 0.2, 0.4],
            }
        ],
        said={"": GOOD_DAY},
    ),
    "soniox of a recording": Shape(
        recogniser="soniox",
        messages=[
            {
                "id": "t",
                "text": "Good day",
                "tokens": [
                    {"text": "go", "start_ms": 100, "end_ms": 200},
                    {"text": "od", "start_ms": 200, "end_ms": 400},
                    {"text": " day", "start_ms": 500, "end_ms": 900},
                ],
            }
        ],
        said={"": GOOD_DAY},
    ),
    "deepgram's envelope": Shape(
        recogniser="deepgram",
        messages=[
            {
                "error": None,
                "result": {
                    "results": {
                        "channels": [
                            {"alternatives": [{"words": [seconds("good", 0.1, 0.4), seconds("day", 0.5, 0.9)]}]}
                        ]
                    }
                },
            }
        ],
        said={"": GOOD_DAY},
    ),
    "youtube's json3": Shape(
        recogniser="youtube",
        messages=[
            {
                "wireMagic": "pb3",
                "events": [
                    {"tStartMs": 0, "dDurationMs": 9000, "id": 1},
                    {
                        "tStartMs": 100,
                        "dDurationMs": 3000,
                        "segs": [{"utf8": "good"}, {"utf8": " day", "tOffsetMs": 400}],
                    },
                    {"tStartMs": 900, "aAppend": 1, "segs": [{"utf8": "\n"}]},
                    {"tStartMs": 900, "dDurationMs": 500, "segs": [{"utf8": "[Music]"}]},
                    {"tStartMs": 2000, "dDurationMs": 800, "segs": [{"utf8": "so\nlong"}]},
                ],
            }
        ],
        said={"": [("good", 100, 340), ("day", 500, 680), ("so", 2000, 2300), ("long", 2300, 2800)]},
    ),
    "gladia of a recording": Shape(
        recogniser="gladia",
        messages=[
            {
                "status": "done",
                "result": {
                    "transcription": {
                        "full_transcript": "good day",
                        "utterances": [
                            {
                                "text": "good day",
                                "channel": 0,
                                "speaker": 1,
                                "words": [seconds(" good", 0.1, 0.4), seconds(" day.", 0.5, 0.9)],
                            }
                        ],
                    }
                },
            }
        ],
        said={"/1": GOOD_DAY},
    ),
    "gladia, live": Shape(
        recogniser="gladia",
        messages=[
            {"type": "transcript", "data": {"id": "0-1", "is_final": False, "utterance": {"text": "good"}}},
            {
                "type": "transcript",
                "data": {
                    "id": "0-1",
                    "is_final": True,
                    "utterance": {"words": [seconds("good", 0.1, 0.4), seconds("day", 0.5, 0.9)], "channel": 0},
                },
            },
            {"type": "post_transcript", "data": {"full_transcript": "good day"}},
        ],
        said={"": GOOD_DAY},
    ),
    "rev.ai": Shape(
        recogniser="revai",
        messages=[
            {
                "monologues": [
                    {
                        "speaker": 0,
                        "elements": [
                            {"type": "text", "value": "good", "ts": 0.1, "end_ts": 0.4},
                            {"type": "punct", "value": " "},
                            {"type": "text", "value": "day", "ts": 0.5, "end_ts": 0.9},
                            {"type": "punct", "value": "."},
                        ],
                    }
                ]
            }
        ],
        said={"/0": GOOD_DAY},
    ),
    "rev.ai, live": Shape(
        recogniser="revai",
        messages=[
            {"type": "connected", "id": "x"},
            {"type": "partial", "elements": [{"type": "text", "value": "good"}]},
            {
                "type": "final",
                "ts": 0.1,
                "end_ts": 0.9,
                "elements": [
                    {"type": "text", "value": "good", "ts": 0.1, "end_ts": 0.4},
                    {"type": "text", "value": "day", "ts": 0.5, "end_ts": 0.9},
                ],
            },
        ],
        said={"": GOOD_DAY},
    ),
    "watson's speakers": Shape(
        recogniser="watson",
        messages=[
            {
                "result_index": 0,
                "results": [
                    {
                        "final": True,
                        "alternatives": [
                            {"transcript": "good day ", "timestamps": [["good", 0.1, 0.4], ["day", 0.5, 0.9]]}
                        ],
                    }
                ],
                "speaker_labels": [{"from": 0.1, "to": 0.4, "speaker": 0}, {"from": 0.5, "to": 0.9, "speaker": 1}],
            }
        ],
        said={"/0": GOOD_DAY[:1], "/1": GOOD_DAY[1:]},
    ),
    "watson's job": Shape(
        recogniser="watson",
        messages=[
            {
                "status": "completed",
                "results": [
                    {
                        "result_index": 0,
                        "results": [
                            {"final": True, "alternatives": [{"timestamps": [["good", 0.1, 0.4], ["day", 0.5, 0.9]]}]}
                        ],
                    }
                ],
            }
        ],
        said={"": GOOD_DAY},
    ),
    "riva, live": Shape(
        recogniser="riva",
        messages=[
            {
                "results": [
                    {
                        "is_final": True,
                        "audio_processed": 1.0,
                        "alternatives": [
                            {
                                "transcript": "good day",
                                "words": [
                                    {"word": "good", "start_time": 100, "end_time": 400},
                                    {"word": "day", "start_time": 500, "end_time": 900},
                                ],
                            }
                        ],
                    }
                ]
            }
        ],
        said={"": GOOD_DAY},
    ),
    "whisperlivekit": Shape(
        recogniser="whisperlivekit",
        messages=[
            {"type": "config", "useAudioWorklet": True},
            {
                "lines": [{"speaker": 1, "text": "good", "start": "0:00:00", "end": "0:00:01"}],
                "buffer_transcription": "da",
            },
            {
                "lines": [
                    {"speaker": 1, "text": "good day", "start": "0:00:00", "end": "0:00:01"},
                    {"speaker": 2, "text": "so", "start": "0:00:02", "end": "0:00:03"},
                ],
                "buffer_transcription": "",
            },
            {"type": "ready_to_stop"},
        ],
        said={"/1": [("good", 0, 555), ("day", 555, 1000)], "/2": [("so", 2000, 3000)]},
    ),
    "livekit": Shape(
        recogniser="livekit",
        messages=[
            {
                "transcribedParticipantIdentity": "anna",
                "trackId": "t",
                "segments": [{"id": "S1", "text": said, "startTime": 0, "endTime": 0, "final": final}],
            }
            for said, final in (("Good", False), ("Good day.", True))
        ],
        said={"/anna": [("Good", None, None), ("day", None, None)]},
    ),
    "pipecat": Shape(
        recogniser="pipecat",
        messages=[
            {"label": "rtvi-ai", "type": "bot-ready", "data": {"version": "1"}},
            {"label": "rtvi-ai", "type": "user-transcription", "data": {"text": "good day", "final": True}},
            {"label": "rtvi-ai", "type": "bot-transcription", "data": {"text": "not this"}},
        ],
        said={"": [("good", None, None), ("day", None, None)]},
    ),
    "twilio's webhooks": Shape(
        recogniser="twilio",
        messages=[
            {"TranscriptionEvent": "transcription-started", "SequenceId": "1"},
            {
                "TranscriptionEvent": "transcription-content",
                "Track": "inbound_track",
                "Final": "true",
                "TranscriptionData": json.dumps({"transcript": "good day", "confidence": 0.9}),
            },
        ],
        said={"/inbound": [("good", None, None), ("day", None, None)]},
    ),
    "twilio's sentences": Shape(
        recogniser="twilio",
        messages=[
            {
                "sentences": [
                    {
                        "media_channel": 1,
                        "transcript": "Good day.",
                        "words": [
                            {"word": "good", "start_time": "0.1", "end_time": "0.4"},
                            {"word": "day", "start_time": "0.5", "end_time": "0.9"},
                        ],
                    }
                ]
            }
        ],
        said={"/1": GOOD_DAY},
    ),
    "twilio's relay": Shape(
        recogniser="twilio",
        messages=[
            {"type": "prompt", "voicePrompt": "good ", "last": False},
            {"type": "prompt", "voicePrompt": "day", "last": True},
        ],
        said={"": [("good", None, None), ("day", None, None)]},
    ),
    "jambonz' webhooks": Shape(
        recogniser="jambonz",
        messages=[
            {
                "call_sid": "c",
                "speech": {
                    "is_final": final,
                    "channel_tag": 2,
                    "alternatives": [{"confidence": 0.9, "transcript": said}],
                },
            }
            for said, final in (("good", False), ("Good day.", True))
        ],
        said={"/2": [("Good", None, None), ("day", None, None)]},
    ),
    "jambonz over a WebSocket": Shape(
        recogniser="jambonz",
        messages=[
            {
                "type": "verb:hook",
                "data": {"speech": {"transcripts": [{"is_final": True, "alternatives": [{"transcript": "good day"}]}]}},
            }
        ],
        said={"": [("good", None, None), ("day", None, None)]},
    ),
    "bandwidth's tracks": Shape(
        recogniser="bandwidth",
        messages=[
            {"eventType": "start", "metadata": {}},
            *(
                {
                    "eventType": "transcription",
                    "track": "inbound",
                    "startTime": "2026-11-28T10:00:00.900Z",
                    "endTime": "2026-11-28T10:00:01.900Z",
                    "isPartial": partial,
                    "items": [
                        {
                            "content": word,
                            "startTime": f"{_MINUTE}{start}Z",
                            "endTime": f"{_MINUTE}{end}Z",
                            "type": kind,
                        }
                        for word, start, end, kind in (
                            ("good", "01.000", "01.300", "PRONUNCIATION"),
                            ("day", "01.400", "01.800", "PRONUNCIATION"),
                            (".", "01.800", "01.800", "PUNCTUATION"),
                        )
                    ],
                }
                for partial in (True, False)
            ),
        ],
        said={"/inbound": GOOD_DAY},
    ),
    "speechmatics' entities as they were spoken": Shape(
        recogniser="speechmatics",
        messages=[
            {
                "results": [
                    {
                        "type": "entity",
                        "start_time": 0.1,
                        "end_time": 0.9,
                        "alternatives": [{"content": "1.1.", "speaker": "S1"}],
                        "spoken_form": [
                            {
                                "type": "word",
                                "start_time": start_ms / 1000,
                                "end_time": end_ms / 1000,
                                "alternatives": [{"content": word}],
                            }
                            for word, start_ms, end_ms in GOOD_DAY
                            if start_ms is not None and end_ms is not None
                        ],
                    }
                ]
            }
        ],
        said={"/S1": GOOD_DAY},
    ),
    "azure's results of JavaScript as JSON": Shape(
        recogniser="azure",
        messages=[
            {
                "privReason": 3,
                "privJson": json.dumps(
                    {
                        "RecognitionStatus": 0,
                        "NBest": [
                            {
                                "Words": [
                                    {"Word": "good", "Offset": 1_000_000, "Duration": 3_000_000},
                                    {"Word": "day", "Offset": 5_000_000, "Duration": 4_000_000},
                                ]
                            }
                        ],
                    }
                ),
            }
        ],
        said={"": GOOD_DAY},
    ),
    "aws' speakers by the times of their segments": Shape(
        recogniser="aws",
        messages=[
            {
                "jobName": "a",
                "results": {
                    "transcripts": [],
                    "speaker_labels": {
                        "segments": [
                            {"start_time": "0.1", "speaker_label": "spk_0", "items": []},
                            {"start_time": "0.45", "speaker_label": "spk_1", "items": []},
                        ]
                    },
                    "items": [
                        {
                            "type": "pronunciation",
                            "start_time": start,
                            "end_time": end,
                            "alternatives": [{"content": word}],
                        }
                        for word, start, end in (("good", "0.1", "0.4"), ("day", "0.5", "0.9"))
                    ],
                },
            }
        ],
        said={"/0": GOOD_DAY[:1], "/1": GOOD_DAY[1:]},
    ),
    "riva without the audio processed": Shape(
        recogniser="riva",
        messages=[
            {
                "results": [
                    {
                        "alternatives": [
                            {
                                "words": [
                                    {"word": word, "startTime": start_ms, "endTime": end_ms}
                                    for word, start_ms, end_ms in GOOD_DAY
                                ]
                            }
                        ]
                    }
                ]
            }
        ],
        said={"": GOOD_DAY},
    ),
    "hugging face's chunks alone": Shape(
        recogniser="whisper",
        messages=[{"text": " Good", "timestamp": [0.1, 0.4]}, {"text": " day.", "timestamp": [0.5, 0.9]}],
        said={"": [("Good", 100, 400), ("day", 500, 900)]},
    ),
    "whisperx' words alone": Shape(
        recogniser="whisper",
        messages=[
            {"word": "good", "start": 0.1, "end": 0.4, "score": 0.9},
            {"word": "day.", "start": 0.5, "end": 0.9, "score": 0.8},
        ],
        said={"": GOOD_DAY},
    ),
    "openai's plain answer without its cost": Shape(
        recogniser="whisper",
        messages=[{"text": "Good day."}],
        said={"": [("Good", None, None), ("day", None, None)]},
    ),
    "google's marks of words in a transcript": Shape(
        recogniser="google",
        messages=[{"results": [{"alternatives": [{"transcript": "\u2581good\u2581day"}]}]}],
        said={"": [("good", None, None), ("day", None, None)]},
    ),
    "azure communication services": Shape(
        recogniser="azure-communication",
        messages=[
            {"kind": "TranscriptionMetadata", "transcriptionMetadata": {"locale": "en"}},
            {
                "kind": "TranscriptionData",
                "transcriptionData": {
                    "text": "Good day.",
                    "offset": 1_000_000,
                    "duration": 8_000_000,
                    "words": [
                        {"text": "good", "offset": 1_000_000, "duration": 3_000_000},
                        {"text": "day", "offset": 5_000_000, "duration": 4_000_000},
                    ],
                    "participantRawID": "8:anna",
                    "resultState": "Final",
                },
            },
        ],
        said={"/8:anna": GOOD_DAY},
    ),
    "vosk's noises": Shape(
        recogniser="vosk",
        messages=[
            {
                "text": "!SIL good <laugh> [unk] day",
                "result": [
                    seconds(word, at, at + 0.5) for at, word in enumerate(["!SIL", "good", "<laugh>", "[unk]", "day"])
                ],
            }
        ],
        said={"": [("good", 1000, 1500), ("[unk]", 3000, 3500), ("day", 4000, 4500)]},
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


@pytest.mark.parametrize(
    ("recogniser", "message"),
    [
        ("vosk", {"text": "so", "result": [seconds("so", 0.1, 0.4)]}),
        (
            "azure",
            {"RecognitionStatus": 0, "Offset": 1_000_000, "Duration": 3_000_000, "DisplayText": "So."},
        ),
        (
            "aws",
            {
                "Transcript": {
                    "Results": [
                        {
                            "ResultId": "1",
                            "IsPartial": False,
                            "EndTime": 0.4,
                            "Alternatives": [{"Items": [{"Type": "pronunciation", "Content": "so", "StartTime": 0.1}]}],
                        }
                    ]
                }
            },
        ),
        ("whisper", {"uid": "a", "segments": [{"start": "0.1", "end": "0.4", "text": " so", "completed": True}]}),
    ],
)
def test_times_that_go_back_begin_a_new_epoch(recogniser: str, message: dict[str, object]) -> None:
    later = json.loads(json.dumps(message).replace("0.4", "9.4").replace("3000000", "93000000").replace('"1"', '"2"'))
    again = message | {"uid": "b"} if "uid" in message else message
    events = [event for event in fed(recogniser, [message, later, again]) if event.words]
    epochs = [event.epoch for event in events]
    assert texts(events)[-1] in ("so", "So")
    assert epochs[-1] > epochs[0]


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
