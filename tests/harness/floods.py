"""What a hostile client sends over and over, by name: frames, messages, recognisers' messages, requests."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.harness.hostile_client import BINARY, CONTINUED, PING, PONG, TEXT, frame

CONTROL_FLOODS = {
    "pings": frame(PING, b"x" * 125) * 400,
    "empty pings": frame(PING) * 4000,
    "pongs": frame(PONG, b"x" * 125) * 400,
    "parts of a message that never ends": frame(CONTINUED, b"", whole=False) * 4000,
    "parts of a byte": frame(CONTINUED, b" ", whole=False) * 4000,
    "pings within a message": (frame(PING) + frame(CONTINUED, b"", whole=False)) * 2000,
}

MESSAGE_FLOODS = {
    "empty texts": frame(TEXT) * 4000,
    "events without words": frame(TEXT, b"{}") * 4000,
    "ends of utterances": frame(TEXT, b'{"utterance_end":true}') * 1000,
    "many words": frame(TEXT, b'{"words":"' + b"a " * 1900 + b'"}') * 4,
    "too many words": frame(TEXT, b'{"words":"' + b"a " * 400_000 + b'"}'),
    "binary that is none": frame(BINARY, b"\xc1") * 4000,
    "deep": frame(TEXT, b"[" * 400_000 + b"]" * 400_000),
    "large and refused": frame(TEXT, b'{"wrods":"' + b"x" * 900_000 + b'"}'),
    "half a character": frame(TEXT, b'{"words":"\xff"}'),
    "large frames in parts": frame(TEXT, b'{"words":"', whole=False)
    + frame(CONTINUED, b"a " * 30_000, whole=False) * 10
    + frame(CONTINUED, b'"}'),
}

REQUEST_FLOODS = {
    "requests": b"GET /live HTTP/1.1\r\nHost: a\r\n\r\n" * 1000,
    "requests of many headers": (b"GET /live HTTP/1.1\r\nHost: a\r\n" + b"a: b\r\n" * 90 + b"\r\n") * 100,
    "chunks of a byte": b"POST /v1/sessions/a/events HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    + b"1\r\n \r\n" * 100_000,
    "posted words": b"POST /v1/sessions/a/events HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 13\r\n\r\n"
    b'{"words":"a"}' * 1000,
}
"""No upgrade comes before these: any stranger can send them."""


def named(recogniser: str) -> bytes:
    return json.dumps({"format": recogniser}).encode()


def many(head: str, item: Callable[[int], str], tail: str) -> bytes:
    return frame(TEXT, (head + ",".join(item(at) for at in range(3000)) + tail).encode())


RECOGNISERS = {
    "deepgram": many(
        '{"is_final":true,"channel":{"alternatives":[{"words":[',
        lambda at: f'{{"word":"a","speaker":{at}}}',
        "]}]}}",
    ),
    "google": many(
        '{"results":[', lambda at: f'{{"alternatives":[{{"transcript":"a"}}],"channelTag":{at + 1},"isFinal":true}}',
        "]}",
    ),
    "soniox": many(
        '{"tokens":[',
        lambda at: f'{{"text":"a","is_final":true,"speaker":{at % 16}}},{{"text":"<end>","is_final":true}}',
        "]}",
    ),
    "vosk": frame(TEXT, b'{"text":"' + b"a " * 450_000 + b'"}'),
    "whisper": frame(TEXT, b'{"segments":[{"start":0,"end":1,"text":"' + b"[" * 900_000 + b'"}]}'),
    "funasr": frame(TEXT, b'{"mode":"2pass-online","text":"' + b"a " * 5000 + b'"}'),
    "openai-realtime": frame(
        TEXT,
        b'{"type":"conversation.item.input_audio_transcription.delta","item_id":"0","delta":"' + b". " * 9000 + b'"}',
    )
    + frame(TEXT, b'{"type":"conversation.item.input_audio_transcription.delta","item_id":"0","delta":". "}') * 500,
}  # fmt: skip
