"""A conversation as a vCon: who took part, and what was said as its analysis of the type ``wtf_transcription``.

Source: draft-ietf-vcon-vcon-core (syntax 0.4.0) and draft-howe-vcon-wtf-extension-02, as of November 2026.

There is no dialog, for the recording itself is not at hand. Times are seconds of the conversation; what is not known is
left out. A segment of which nothing is left when fillers and repairs are left out has no text; its words stand.
"""

from __future__ import annotations

import hashlib
import secrets
import socket
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

import msgspec

from caesura.worker.core.overlays.rules import NO_OVERLAYS, OverlayRules
from caesura.worker.core.rendering.cleaning import Cleaning
from caesura.worker.core.rendering.conversation import Placed, characteristics_of
from caesura.worker.core.rendering.rendering import Style, render_segment


def vcon_json(placed: Sequence[Placed], cleaning: Cleaning, overlays: OverlayRules = NO_OVERLAYS) -> str:
    """Return the segments of a conversation, in order, as one JSON object and a line break."""
    numbers = characteristics_of(placed)
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    names = {side.session: side.name for side in numbers.sides}
    segments: list[dict[str, object]] = []
    words: list[dict[str, object]] = []
    for number, one in enumerate(one for one in placed if one.segment.words):
        said = [
            {"id": len(words) + at, "text": word.text, "speaker": names[one.segment.session]}
            | ({"start": word.start_ms / 1000} if word.start_ms is not None else {})
            | ({"end": word.end_ms / 1000} if word.end_ms is not None else {})
            | ({"confidence": word.confidence} if word.confidence is not None else {})
            for at, word in enumerate(one.segment.words)
        ]
        words += said
        segments.append(
            {
                "id": number,
                "text": render_segment(one.segment, Style.FLUENT, cleaning=cleaning, overlays=overlays).text,
                "speaker": names[one.segment.session],
                "words": [word["id"] for word in said],
            }
            | ({"start": one.start_ms / 1000, "end": one.end_ms / 1000} if one.timed else {})
        )
    duration = numbers.duration_ms / 1000
    models = {f"{model.id} {model.version}" for one in placed if (model := one.segment.model) is not None}
    heard = {
        "transcript": {
            "text": " ".join(str(one["text"]) for one in segments if one["text"]),
            "language": placed[0].segment.lang if placed else "",
            "duration": duration,
        },
        "segments": segments,
        "words": words,
        "metadata": {
            "created_at": now,
            "processed_at": now,
            "provider": "caesura",
            "model": ", ".join(sorted(models)),
            "audio": {"duration": duration},
            "options": {},
        },
    }
    analysis = {
        "type": "wtf_transcription",
        "vendor": "caesura",
        "mediatype": "application/json",
        "encoding": "json",
        "body": heard,
    }
    whole = {
        "vcon": "0.4.0",
        "uuid": str(_uuid()),
        "extensions": ["wtf_transcription"],
        "created_at": now,
        "parties": [{"name": name} for name in names.values()],
        "analysis": [analysis],
    }
    return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode() + "\n"


def _uuid() -> UUID:
    """Return a UUID of version 8 as the draft makes one: the time, 12 random bits, 62 bits of this host's name."""
    host = int.from_bytes(hashlib.sha1(socket.gethostname().encode(), usedforsecurity=False).digest()) >> 98
    now_ms = time.time_ns() // 1_000_000
    return UUID(int=now_ms << 80 | 8 << 76 | secrets.randbits(12) << 64 | 0b10 << 62 | host)
