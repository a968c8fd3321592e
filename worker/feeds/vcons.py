"""The transcripts within a vCon, each as its recogniser wrote it.

Source: draft-ietf-vcon-vcon-core. A transcript is the body of an analysis, as JSON or as a text that is JSON.
"""

from __future__ import annotations

from json import JSONDecodeError

from caesura.worker.feeds.json_text import json_value

_TRANSCRIPTS = ("transcript", "wtf_transcription")


def within_vcon(message: dict[str, object]) -> list[dict[str, object]]:
    """Return the transcripts within a vCon; any other message, and a vCon without transcripts, as it is."""
    analyses = message.get("analysis")
    if not isinstance(message.get("parties"), list) or not isinstance(analyses, list):
        return [message]
    of_speech = (one for one in analyses if isinstance(one, dict) and one.get("type") in _TRANSCRIPTS)
    bodies = [_body(one.get("body")) for one in of_speech]
    return [body for body in bodies if isinstance(body, dict)] or [message]


def _body(body: object) -> object:
    try:
        return json_value(body) if isinstance(body, str) else body
    except JSONDecodeError:
        return None
