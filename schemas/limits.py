"""The limits of an event that its types cannot say: bytes, characters, and fields that must agree."""

from __future__ import annotations

import re
from collections.abc import Sequence

from caesura.schemas.dead_letters import DeadLetterReason as Reason
from caesura.schemas.errors import InvalidEventError
from caesura.schemas.events import SessionOptions, WordsEvent

MAX_EVENT_BYTES = 1_000_000
"""A little below a broker's default ``message.max.bytes``, which counts the record's frame too."""

MAX_SESSION_BYTES = 128
MAX_ATTRIBUTES_BYTES = 1024
MAX_OWN_WORDS_BYTES = 1024
MAX_SPELLINGS_BYTES = 4096
_SHORT = MAX_SESSION_BYTES // 4
"""So many characters never take more bytes."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_WHITE_SPACE_OR_CONTROL = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")


def check_event_bytes(data: bytes) -> None:
    """Refuse an event that is empty or longer than ``MAX_EVENT_BYTES``."""
    if not data:
        raise InvalidEventError(Reason.MALFORMED, "the event: expected MessagePack or JSON, got nothing")
    if len(data) > MAX_EVENT_BYTES:
        raise InvalidEventError(Reason.OVERSIZED, f"the event: expected at most {MAX_EVENT_BYTES} bytes")


def check_event(event: WordsEvent) -> None:
    """Refuse a well-typed event that breaks a limit; names the field, never its value."""
    if len(event.session) > _SHORT and len(event.session.encode()) > MAX_SESSION_BYTES:
        raise InvalidEventError(Reason.OVERSIZED, f"session: expected at most {MAX_SESSION_BYTES} bytes of UTF-8")
    # What is printable has no control characters, and no white space but the space.
    names = f"{event.session}{event.lang}{event.conversation}{event.speaker}{event.role}{event.channel}"
    if not names.isprintable():
        _refuse_control_characters(event)
    texts = "".join([word.text for word in event.words])
    if not texts.isprintable() or " " in texts or _ends_too_soon(event):
        _refuse_words(event)
    if event.targets is not None:
        _check_targets(event.targets)
    if event.attributes is not None:
        _check_attributes(event.attributes)
    if event.options is not None:
        _check_own_words("options", event.options)
    if event.configure is not None:
        _check_own_words("configure", event.configure)


def _ends_too_soon(event: WordsEvent) -> bool:
    for word in event.words:
        if word.end_ms is not None and word.start_ms is not None and word.end_ms < word.start_ms:
            return True
    return False


def _refuse_control_characters(event: WordsEvent) -> None:
    for name in ("session", "lang", "conversation", "speaker", "role", "channel"):
        if _CONTROL.search(getattr(event, name) or ""):
            raise InvalidEventError(Reason.FORBIDDEN_CHARACTER, f"{name}: expected no control characters")


def _refuse_words(event: WordsEvent) -> None:
    """Name the first word that breaks a limit."""
    for position, word in enumerate(event.words):
        if _WHITE_SPACE_OR_CONTROL.search(word.text):
            raise InvalidEventError(
                Reason.FORBIDDEN_CHARACTER,
                f"words[{position}].text: expected no white space and no control characters",
            )
        if word.start_ms is not None and word.end_ms is not None and word.end_ms < word.start_ms:
            raise InvalidEventError(Reason.OUT_OF_RANGE, f"words[{position}].end_ms: expected none before start_ms")


def _check_own_words(name: str, options: SessionOptions) -> None:
    phrases = (*(options.own_fillers or ()), *(options.kept_phrases or ()))
    if sum(len(phrase.encode()) for phrase in phrases) > MAX_OWN_WORDS_BYTES:
        detail = f"{name}: expected at most {MAX_OWN_WORDS_BYTES} bytes of UTF-8 in own_fillers and kept_phrases"
        raise InvalidEventError(Reason.OVERSIZED, detail)
    if any(_CONTROL.search(phrase) for phrase in phrases):
        detail = f"{name}: expected no control characters in own_fillers and kept_phrases"
        raise InvalidEventError(Reason.FORBIDDEN_CHARACTER, detail)
    spellings = [text for item in (options.spellings or {}).items() for text in item]
    if sum(len(text.encode()) for text in spellings) > MAX_SPELLINGS_BYTES:
        raise InvalidEventError(
            Reason.OVERSIZED, f"{name}: expected at most {MAX_SPELLINGS_BYTES} bytes of UTF-8 in spellings"
        )
    if any(_CONTROL.search(text) for text in spellings):
        raise InvalidEventError(Reason.FORBIDDEN_CHARACTER, f"{name}: expected no control characters in spellings")


def _check_targets(targets: Sequence[str]) -> None:
    if len(set(targets)) < len(targets):
        raise InvalidEventError(Reason.OUT_OF_RANGE, "targets: expected each target once")
    if any(_CONTROL.search(target) for target in targets):
        raise InvalidEventError(Reason.FORBIDDEN_CHARACTER, "targets: expected no control characters")


def _check_attributes(attributes: dict[str, str]) -> None:
    size = sum(len(key.encode()) + len(value.encode()) for key, value in attributes.items())
    if size > MAX_ATTRIBUTES_BYTES:
        raise InvalidEventError(Reason.OVERSIZED, f"attributes: expected at most {MAX_ATTRIBUTES_BYTES} bytes of UTF-8")
    if any(_CONTROL.search(text) for item in attributes.items() for text in item):
        raise InvalidEventError(Reason.FORBIDDEN_CHARACTER, "attributes: expected no control characters")
