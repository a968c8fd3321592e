"""Reads the language that a recogniser's message gives for its words."""

from __future__ import annotations

import re
from collections.abc import Mapping

from caesura.worker.core.language.rules import named_language

_FIELDS = ("language", "language_code", "languageCode", "LanguageCode", "detected_language", "Language", "locale")
_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
_DEEPEST = 5


def stated_language(message: Mapping[str, object]) -> str | None:
    """Return the language (BCP-47) that a message names, the outermost first; None where it names none.

    A name in English or of its own ("german", "deutsch") is its language. Of a list only the first object is looked at.
    Source: ``language`` of Whisper and Soniox, ``language_code`` of AssemblyAI, ElevenLabs and Amazon,
    ``languageCode`` of Google, ``detected_language`` of Deepgram, ``Language`` and ``locale`` of Azure.
    """
    objects: list[Mapping[str, object]] = [message]
    for _ in range(_DEEPEST):
        inner: list[Mapping[str, object]] = []
        for fields in objects:
            for name in _FIELDS:
                said = fields.get(name)
                if isinstance(said, str) and (tag := named_language(said) or _tag(said)) is not None:
                    return tag
            for value in fields.values():
                first = value[0] if isinstance(value, list) and value else value
                if isinstance(first, Mapping):
                    inner.append(first)
        objects = inner
    return None


def _tag(text: str) -> str | None:
    return text.replace("_", "-") if _TAG.fullmatch(text) else None
