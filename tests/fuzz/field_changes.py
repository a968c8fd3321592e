"""An event's fields, changed one at a time: each change says what must become of the event."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import cast

import msgspec

from tests.fuzz.crowd import Fields
from tests.fuzz.message import ACCEPTED, CANARY, NEWER

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


FieldChange = Callable[[random.Random, Fields], None]


def _set_wrong_type(draw: random.Random, fields: Fields) -> None:
    name = draw.choice(sorted(WRONG_TYPES))
    fields[name] = draw.choice(WRONG_TYPES[name])


def _word(draw: random.Random, fields: Fields) -> Fields:
    """Return one of the event's words; there is one afterwards."""
    words = cast("list[Fields]", fields["words"])
    if not words:
        words.append({"text": CANARY})
    return draw.choice(words)


def _set_wrong_type_in_a_word(draw: random.Random, fields: Fields) -> None:
    name = draw.choice(sorted(WRONG_IN_A_WORD))
    _word(draw, fields)[name] = draw.choice(WRONG_IN_A_WORD[name])


def _set_wrong_type_in_options(draw: random.Random, fields: Fields) -> None:
    name = draw.choice(sorted(WRONG_OPTIONS))
    fields["options"] = {name: draw.choice(WRONG_OPTIONS[name])}


def _drop_a_field(draw: random.Random, fields: Fields) -> None:
    if draw.random() < 0.3:
        del _word(draw, fields)["text"]
    else:
        del fields[draw.choice(("version", "session", "seq", "lang"))]


def _add_unknown_fields(draw: random.Random, fields: Fields) -> None:
    anything: tuple[object, ...] = (
        None,
        True,
        1,
        -5,
        1e308,
        math.nan,
        CANARY,
        b"\xff\xfe",
        EXTENSION,
        [[]],
        {CANARY: [1, {}]},
        {1: 2},
    )
    for name in draw.sample((CANARY, "Words", "seq ", "", "_", "é", "final", "sequence", "words\x00"), 2):
        fields[name] = draw.choice((*anything, _nested(draw.randrange(15))))
    _word(draw, fields)[CANARY] = draw.choice(anything)


def _nested(levels: int) -> object:
    value: object = CANARY
    for _ in range(levels):
        value = [value]
    return value


def _nest_too_deep(draw: random.Random, fields: Fields) -> None:
    levels = draw.choice((16, 17, 30, 100, 1000, 20_000))
    opening = draw.choice((b"\x91", b"\x81\xa1a", b"\xdc\x00\x01", b"\xdf\x00\x00\x00\x01\xa0"))
    value = msgspec.Raw(opening * levels + b"\xc0")
    if draw.random() < 0.5:
        fields[CANARY] = value
    else:
        _word(draw, fields)["text"] = value


def _set_number_out_of_range(draw: random.Random, fields: Fields) -> None:
    number = draw.choice(NO_NUMBER_OF_OURS)
    place = draw.randrange(5)
    if place == 0:
        fields[draw.choice(("seq", "epoch", "heard_until_ms"))] = number
    elif place == 1:
        _word(draw, fields)[draw.choice(("start_ms", "end_ms"))] = number
    elif place == 2:
        _word(draw, fields)["confidence"] = draw.choice(
            (math.nan, math.inf, -math.inf, 1.0000001, -1e-300, 1e308, 2, -1)
        )
    elif place == 3:
        fields["options"] = {draw.choice(("look_ahead_words", "flush_after_ms", "max_buffer_words")): number}
    else:
        fields["options"] = {draw.choice(("flush_after_ms", "max_buffer_words")): 0}


def _set_times_backwards(draw: random.Random, fields: Fields) -> None:
    start_ms = draw.choice((1, 5000, 2**53 - 1))
    _word(draw, fields).update(start_ms=start_ms, end_ms=draw.randrange(start_ms))


def _set_no_text(draw: random.Random, fields: Fields) -> None:
    place = draw.randrange(5)
    if place == 0:
        fields["session"] = ""
    elif place == 1:
        fields["lang"] = draw.choice(NO_LANGUAGES)
    elif place == 2:
        fields["targets"] = draw.choice((["de", "de"], [draw.choice(NO_TARGETS)], ["de", draw.choice(NO_TARGETS)]))
    elif place == 3:
        fields["options"] = {"emission": draw.choice(("", "Sentence", CANARY, "sentence "))}
    else:
        _word(draw, fields)["text"] = ""


def _set_too_long(draw: random.Random, fields: Fields) -> None:
    place = draw.randrange(6)
    if place == 0:
        _word(draw, fields)["text"] = draw.choice(("a", "é", "龘", "🙂")) * draw.choice((65, 66, 1000))
    elif place == 1:
        fields["session"] = draw.choice(("a" * 129, "é" * 65, "龘" * 43, "🙂" * 33, "a" * 5000))
    elif place == 2:
        fields[draw.choice(("conversation", "speaker"))] = CANARY * 17
    elif place == 3:
        fields["attributes"] = draw.choice(
            ({"a": "x" * 1024}, {"é" * 400: "é" * 113}, {str(i): "龘" for i in range(300)})
        )
    elif place == 4:
        fields["targets"] = [f"t{number}" for number in range(33)]
    else:
        fields["lang"] = "en" + "-abcdefgh" * 5


def _set_forbidden_character(draw: random.Random, fields: Fields) -> None:
    place = draw.randrange(5)
    control = draw.choice(CONTROLS)
    if place == 0:
        text = CANARY[: draw.randrange(9)]
        _word(draw, fields)["text"] = text + draw.choice(SPACES + CONTROLS) + draw.choice(("", "a"))
    elif place == 1:
        fields["session"] = f"fuzz{control}"
    elif place == 2:
        fields[draw.choice(("conversation", "speaker"))] = f"{CANARY}{control}"
    elif place == 3:
        fields["attributes"] = draw.choice(({control: CANARY}, {CANARY: control}))
    else:
        fields["lang"] = "en\n"


def _set_bad_text(draw: random.Random, fields: Fields) -> None:
    """Write text that is not UTF-8: overlong, half of a surrogate pair, beyond Unicode, cut off."""
    bad = draw.choice(BAD_TEXTS)
    raw = msgspec.Raw(bytes((0xA0 | len(bad),)) + bad)
    place = draw.randrange(4)
    if place == 0:
        _word(draw, fields)["text"] = raw
    elif place == 1:
        fields[draw.choice(("version", "session", "lang", "conversation", "speaker"))] = raw
    elif place == 2:
        fields["attributes"] = {CANARY: raw}
    else:
        fields["attributes"] = msgspec.Raw(b"\x81" + bytes(raw) + b"\xa0")


def _set_older_or_no_version(draw: random.Random, fields: Fields) -> None:
    fields["version"] = draw.choice(VERSIONS_OF_NOBODY)


def _set_newer_version(draw: random.Random, fields: Fields) -> None:
    fields["version"] = draw.choice(("2.0", "2.7", "2.999999"))
    if draw.random() < 0.5:
        fields["words"] = {CANARY: "what a newer one means by it is not known here"}


def _set_far_version(draw: random.Random, fields: Fields) -> None:
    fields["version"] = draw.choice(("3.0", "10.0", "999999.999999"))
    if draw.random() < 0.5:
        fields["words"] = {CANARY: "no release to come next reads it"}


def _set_strange_text(draw: random.Random, fields: Fields) -> None:
    """Write text that looks odd and breaks no rule."""
    _word(draw, fields)["text"] = draw.choice(STRANGE)[:64]
    if draw.random() < 0.3:
        fields["speaker"] = draw.choice(STRANGE)
        fields["attributes"] = {draw.choice(STRANGE): draw.choice(STRANGE)}


def _set_odd_numbers(draw: random.Random, fields: Fields) -> None:
    """Number the event as nobody would who counts, within what a number may be."""
    seq = cast("int", fields["seq"])
    fields["seq"] = draw.choice((0, max(seq - 3, 0), seq + 5, seq + 1_000_000))
    if draw.random() < 0.2:
        fields["epoch"] = draw.choice((0, 1, 8, 2**31))


def _set_odd_options(draw: random.Random, fields: Fields) -> None:
    """Wish for what the operator's bounds must clamp, and for targets that there are not."""
    most = 2**53 - 1
    fields["options"] = {
        "look_ahead_words": draw.choice((0, most)),
        "flush_after_ms": draw.choice((1, most)),
        "max_buffer_words": draw.choice((1, most)),
        "punctuation": draw.choice((True, False, None)),
        "emission": draw.choice(("settled", None)),
    }
    fields["targets"] = draw.choice(([], ["nowhere"], ["de", "nowhere"], [f"t{number}" for number in range(32)]))
    fields["heard_until_ms"] = draw.choice((0, most))
    fields["lang"] = draw.choice(("zh", "EN", "cmn_Hans", "zz", "tlh-Latn"))


FIELD_CHANGES: dict[str, tuple[FieldChange, frozenset[str]]] = {
    "wrong_type": (_set_wrong_type, frozenset({"wrong_type"})),
    "wrong_type_in_a_word": (_set_wrong_type_in_a_word, frozenset({"wrong_type"})),
    "wrong_type_in_options": (_set_wrong_type_in_options, frozenset({"wrong_type"})),
    "missing_field": (_drop_a_field, frozenset({"missing_field"})),
    "unknown_fields": (_add_unknown_fields, frozenset({ACCEPTED})),
    "too_deep": (_nest_too_deep, frozenset({"malformed"})),
    "number_out_of_range": (_set_number_out_of_range, frozenset({"out_of_range"})),
    "times_backwards": (_set_times_backwards, frozenset({"out_of_range"})),
    "no_such_text": (_set_no_text, frozenset({"out_of_range", "forbidden_character", "oversized"})),
    "too_long": (_set_too_long, frozenset({"oversized"})),
    "forbidden_character": (_set_forbidden_character, frozenset({"forbidden_character"})),
    "not_utf8": (_set_bad_text, frozenset({"malformed"})),
    "older_or_no_version": (_set_older_or_no_version, frozenset({"unknown_version"})),
    "far_version": (_set_far_version, frozenset({"unknown_version"})),
    "newer_version": (_set_newer_version, frozenset({NEWER})),
    "strange_text": (_set_strange_text, frozenset({ACCEPTED})),
    "odd_numbers": (_set_odd_numbers, frozenset({ACCEPTED})),
    "odd_options": (_set_odd_options, frozenset({ACCEPTED})),
}
"""By name: what changes the fields, and what may become of the event then."""
