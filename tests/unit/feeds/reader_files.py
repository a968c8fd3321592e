"""A file of each format that is read, of the same words, each word once: ten to an utterance, two a second."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from caesura.worker.feeds.file_format import FileFormat, SpeechFormat
from caesura.worker.feeds.recognisers.catalogue import RecogniserName

Utterances = Sequence[Sequence[str]]
Builder = Callable[[Utterances], str]
_Timed = tuple[str, float, float]


@dataclass(frozen=True, slots=True)
class _Utterance:
    """words: each with its start and end in seconds."""

    number: int
    words: list[_Timed]

    @property
    def text(self) -> str:
        return " ".join(word for word, _, _ in self.words)


@dataclass(frozen=True, slots=True)
class _Call:
    """A call's words, and those of each of its utterances."""

    utterances: list[list[_Timed]]

    @property
    def words(self) -> list[_Timed]:
        return [word for said in self.utterances for word in said]


def _placed(utterances: Utterances) -> list[list[_Timed]]:
    """Return timed words; an utterance begins ten seconds after the one before."""
    return [
        [(word, at * 10 + place / 2, at * 10 + place / 2 + 0.4) for place, word in enumerate(said)]
        for at, said in enumerate(utterances)
    ]


def _lines(of_utterance: Callable[[_Utterance], object]) -> Builder:
    """Return what writes an object a line for each utterance."""

    def built(utterances: Utterances) -> str:
        placed = enumerate(_placed(utterances))
        return "".join(json.dumps(of_utterance(_Utterance(at, said))) + "\n" for at, said in placed)

    return built


def _value(of_call: Callable[[_Call], object]) -> Builder:
    """Return what writes one value over many lines."""
    return lambda utterances: json.dumps(of_call(_Call(_placed(utterances))), indent=1)


def _clock(at_s: float, point: str) -> str:
    seconds, ms = divmod(round(at_s * 1000), 1000)
    minutes, second = divmod(seconds, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{second:02}{point}{ms:03}"


def _captions(head: str, point: str) -> Builder:
    def built(utterances: Utterances) -> str:
        cues = [
            f"{at}\n{_clock(said[0][1], point)} --> {_clock(said[-1][2], point)}\n{' '.join(w[0] for w in said)}\n"
            for at, said in enumerate(_placed(utterances), 1)
        ]
        return head + "\n".join(cues)

    return built


def _words(
    said: Sequence[tuple[str, float, float]],
    text: str = "word",
    start: str = "start",
    end: str = "end",
    unit: float = 1,
) -> list[dict[str, object]]:
    def number(at_s: float) -> float:
        return at_s if unit == 1 else round(at_s * unit)

    return [{text: word, start: number(begin), end: number(until)} for word, begin, until in said]


def _date(at_s: float) -> str:
    return f"2026-11-28T10:{_clock(at_s, '.')[3:]}Z"


FILES: Mapping[SpeechFormat, Builder] = {
    FileFormat.TEXT: lambda utterances: "".join(" ".join(said) + "\n" for said in utterances),
    FileFormat.JSONL: _lines(
        lambda one: {
            "session": "a",
            "words": [{"text": w, "start_ms": round(s * 1000), "end_ms": round(e * 1000)} for w, s, e in one.words],
        }
    ),
    FileFormat.SRT: _captions("", ","),
    FileFormat.VTT: _captions("WEBVTT\n\n", "."),
    FileFormat.CTM: lambda utterances: "".join(
        f"a 1 {start:.2f} 0.40 {word}\n" for said in _placed(utterances) for word, start, _ in said
    ),
    RecogniserName.DEEPGRAM: _lines(
        lambda one: {
            "type": "Results",
            "channel_index": [0, 1],
            "start": one.words[0][1],
            "duration": 9.0,
            "is_final": True,
            "channel": {"alternatives": [{"words": _words(one.words)}]},
        }
    ),
    RecogniserName.ASSEMBLYAI: _lines(
        lambda one: {
            "type": "Turn",
            "turn_order": one.number,
            "end_of_turn": True,
            "words": [w | {"word_is_final": True} for w in _words(one.words, "text", unit=1000)],
        }
    ),
    RecogniserName.GOOGLE: _value(
        lambda call: {"results": [{"alternatives": [{"words": _seconds(words)}]} for words in call.utterances]}
    ),
    RecogniserName.AZURE: _lines(
        lambda one: {
            "RecognitionStatus": "Success",
            "NBest": [
                {"Words": [{"Word": w, "Offset": round(s * 1e7), "Duration": 4_000_000} for w, s, _ in one.words]}
            ],
        }
    ),
    RecogniserName.AWS: _value(
        lambda call: {
            "jobName": "a",
            "results": {
                "transcripts": [],
                "items": [
                    {
                        "type": "pronunciation",
                        "start_time": str(s),
                        "end_time": str(e),
                        "alternatives": [{"content": w, "confidence": "0.9"}],
                    }
                    for w, s, e in call.words
                ],
            },
        }
    ),
    RecogniserName.SONIOX: _value(
        lambda call: {
            "id": "a",
            "tokens": [
                {"text": f" {w}", "start_ms": round(s * 1000), "end_ms": round(e * 1000)} for w, s, e in call.words
            ],
        }
    ),
    RecogniserName.OPENAI_REALTIME: _lines(
        lambda one: {
            "type": "conversation.item.input_audio_transcription.completed",
            "item_id": str(one.number),
            "transcript": one.text,
        }
    ),
    RecogniserName.FUNASR: _lines(
        lambda one: {
            "mode": "offline",
            "text": one.text,
            "timestamp": json.dumps([[round(s * 1000), round(e * 1000)] for _, s, e in one.words]),
        }
    ),
    RecogniserName.SHERPA_ONNX: _lines(
        lambda one: {
            "text": one.text,
            "tokens": [letter for word, _, _ in one.words for letter in (f" {word[0]}", *word[1:])],
            "timestamps": [start - one.words[0][1] for word, start, _ in one.words for _ in word],
            "start_time": one.words[0][1],
            "segment": one.number,
            "is_final": True,
        }
    ),
    RecogniserName.WHISPER: _value(
        lambda call: {
            "language": "en",
            "segments": [
                {"start": words[0][1], "end": words[-1][2], "text": "".join(f" {w[0]}" for w in words)}
                for words in call.utterances
            ],
        }
    ),
    RecogniserName.VOSK: _lines(lambda one: {"text": one.text}),
    RecogniserName.ELEVENLABS: _value(
        lambda call: {
            "language_code": "en",
            "language_probability": 1,
            "text": "",
            "words": [w | {"type": "word"} for w in _words(call.words, "text")],
        }
    ),
    RecogniserName.SPEECHMATICS: _value(
        lambda call: {
            "format": "2.9",
            "results": [
                {"type": "word", "start_time": s, "end_time": e, "alternatives": [{"content": w}]}
                for w, s, e in call.words
            ],
        }
    ),
    RecogniserName.GLADIA: _value(
        lambda call: {
            "result": {
                "transcription": {"utterances": [{"channel": 0, "words": _words(words)} for words in call.utterances]}
            }
        }
    ),
    RecogniserName.REVAI: _value(
        lambda call: {
            "monologues": [
                {"speaker": 0, "elements": [w | {"type": "text"} for w in _words(words, "value", "ts", "end_ts")]}
                for words in call.utterances
            ]
        }
    ),
    RecogniserName.WATSON: _value(
        lambda call: {
            "result_index": 0,
            "results": [
                {"final": True, "alternatives": [{"timestamps": [list(w) for w in words]}]} for words in call.utterances
            ],
        }
    ),
    RecogniserName.RIVA: _value(
        lambda call: {
            "results": [
                {
                    "audioProcessed": 9.0,
                    "alternatives": [{"words": _words(words, "word", "startTime", "endTime", 1000)}],
                }
                for words in call.utterances
            ]
        }
    ),
    RecogniserName.YOUTUBE: _value(
        lambda call: {
            "wireMagic": "pb3",
            "events": [
                {
                    "tStartMs": round(words[0][1] * 1000),
                    "dDurationMs": 9000,
                    "segs": [{"utf8": " ".join(w[0] for w in words)}],
                }
                for words in call.utterances
            ],
        }
    ),
    RecogniserName.PODCAST: _value(
        lambda call: {
            "version": "1.0.0",
            "segments": [{"startTime": s, "endTime": e, "body": w} for w, s, e in call.words],
        }
    ),
    RecogniserName.WHISPERLIVEKIT: _value(
        lambda call: {
            "buffer_transcription": "",
            "lines": [
                {
                    "speaker": 1,
                    "text": " ".join(w[0] for w in words),
                    "start": _clock(words[0][1], "."),
                    "end": _clock(words[-1][2], "."),
                }
                for words in call.utterances
            ],
        }
    ),
    RecogniserName.LIVEKIT: _lines(
        lambda one: {
            "transcribedParticipantIdentity": "a",
            "segments": [
                {
                    "id": str(one.number),
                    "text": one.text,
                    "startTime": round(one.words[0][1] * 1000) + 1,
                    "endTime": round(one.words[-1][2] * 1000),
                    "final": True,
                }
            ],
        }
    ),
    RecogniserName.PIPECAT: _lines(
        lambda one: {
            "label": "rtvi-ai",
            "type": "user-transcription",
            "data": {"text": one.text, "final": True},
        }
    ),
    RecogniserName.TWILIO: _value(
        lambda call: {
            "sentences": [
                {"media_channel": 1, "transcript": "", "words": _words(words, "word", "start_time", "end_time")}
                for words in call.utterances
            ]
        }
    ),
    RecogniserName.JAMBONZ: _lines(
        lambda one: {"speech": {"is_final": True, "alternatives": [{"transcript": one.text}]}}
    ),
    RecogniserName.BANDWIDTH: _lines(
        lambda one: {
            "eventType": "transcription",
            "track": "inbound",
            "isPartial": False,
            "items": [
                {"type": "PRONUNCIATION", "content": w, "startTime": _date(s), "endTime": _date(e)}
                for w, s, e in one.words
            ],
        }
    ),
    RecogniserName.AZURE_COMMUNICATION: _lines(
        lambda one: {
            "kind": "TranscriptionData",
            "transcriptionData": {
                "words": [{"text": w, "offset": round(s * 1e7), "duration": 4_000_000} for w, s, _ in one.words],
                "participantRawID": "a",
                "resultState": "Final",
            },
        }
    ),
}


def _seconds(words: Sequence[tuple[str, float, float]]) -> list[dict[str, object]]:
    return [{"word": word, "startTime": f"{start}s", "endTime": f"{end}s"} for word, start, end in words]
