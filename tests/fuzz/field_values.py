"""Values that a field cannot have, and odd ones that it can; ``tests.fuzz.field_changes`` puts them in."""

from __future__ import annotations

import math

import msgspec

from tests.fuzz.message import CANARY

__all__ = [
    "BAD_TEXTS",
    "CONTROLS",
    "EXTENSION",
    "NO_LANGUAGES",
    "NO_NUMBER_OF_OURS",
    "NO_TARGETS",
    "SPACES",
    "STRANGE",
    "VERSIONS_OF_NOBODY",
    "WRONG_IN_A_WORD",
    "WRONG_OPTIONS",
    "WRONG_TYPES",
]

EXTENSION = msgspec.Raw(b"\xd6\xff\x00\x00\x00\x01")
BAD_TEXTS = (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xed\xb0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\x80abc")
SPACES = " \t\n\r\x0b\x0c\x1c\x85\xa0\u1680\u2000\u2028\u2029\u202f\u205f\u3000"
CONTROLS = "\x00\x01\x07\x08\x1b\x1f\x7f\x80\x9f"
STRANGE: tuple[str, ...] = (
    "\u200b",
    "\u200d",
    "\u202e",
    "\ufeff",
    "\ufdd0",
    "\uffff",
    "\ue000",
    "\U000e0041",
    "\U0010ffff",
    "👩‍👩‍👧‍👦",
)
STRANGE += (
    "e" + "\u0301" * 60,
    "\u0301",
    "ﷺ" * 64,
    "İ" * 64,
    "ß",
    "ǅ",
    "<b>",
    "&amp;",
    "%s{0}",
    "../..",
    "\\x00",
    "-0",
)
NO_TEXT: tuple[object, ...] = (1, 1.5, None, True, [], {}, CANARY.encode(), EXTENSION, [CANARY], {CANARY: CANARY})
NO_COUNT: tuple[object, ...] = ("1", CANARY, 1.0, math.nan, None, True, [], {}, b"\x01", EXTENSION)
NO_LIST: tuple[object, ...] = (CANARY, 1, {}, {CANARY: 1}, True, 0.5, CANARY.encode(), EXTENSION)
NO_MAP: tuple[object, ...] = (CANARY, 1, [], [CANARY], True, 0.5, CANARY.encode(), EXTENSION)
NO_BOOL: tuple[object, ...] = (0, 1, "true", CANARY, None, [], {}, 1.0, b"\x01", EXTENSION)
WRONG_TYPES: dict[str, tuple[object, ...]] = {
    "version": NO_TEXT,
    "session": NO_TEXT,
    "lang": NO_TEXT,
    "seq": NO_COUNT,
    "epoch": NO_COUNT,
    "heard_until_ms": tuple(value for value in NO_COUNT if value is not None),
    "words": (*NO_LIST, None, [None], [CANARY], [[CANARY]], [1], [[{"text": CANARY}]]),
    "targets": (*NO_LIST, [None], [1], [[CANARY]]),
    "utterance_end": NO_BOOL,
    "session_end": NO_BOOL,
    "options": NO_MAP,
    "attributes": (*NO_MAP, {CANARY: 1}, {CANARY: None}, {CANARY: [CANARY]}, {1: CANARY}, {None: CANARY}),
    "conversation": tuple(value for value in NO_TEXT if value is not None),
    "speaker": tuple(value for value in NO_TEXT if value is not None),
}
WRONG_IN_A_WORD: dict[str, tuple[object, ...]] = {
    "text": NO_TEXT,
    "start_ms": tuple(value for value in NO_COUNT if value is not None),
    "end_ms": tuple(value for value in NO_COUNT if value is not None),
    "confidence": ("1", CANARY, True, [], {}, b"\x01", EXTENSION),
}
WRONG_OPTIONS: dict[str, tuple[object, ...]] = {
    "emission": (1, True, [], {}),
    "look_ahead_words": tuple(value for value in NO_COUNT if value is not None),
    "punctuation": tuple(value for value in NO_BOOL if value is not None),
}
NO_NUMBER_OF_OURS = (-1, -(2**63), 2**53, 2**63, 2**64 - 1)
VERSIONS_OF_NOBODY: tuple[str, ...] = (
    "",
    "1",
    "1.",
    ".0",
    "01.0",
    "1.00",
    "1.0.0",
    "1.0\n",
    " 1.0",
    "-1.0",
    "0.9",
    "0.0",
    "１.0",
    CANARY,
)
VERSIONS_OF_NOBODY += ("1.1000000", "1000000.0", "1,0", "1.0 ", "latest", "1.0\x00", "+1.0", "1e0.0")
NO_LANGUAGES = (
    "",
    "e",
    "en-",
    "-en",
    "en--US",
    "english language",
    "日本語",
    "en.US",
    "abcdefghi",
    "en\u200b",
    CANARY + "9",
)
NO_TARGETS = ("", "de/fr", "de fr", "é", "a" * 65, "de\x00", "..\\", "*")
