"""What can be lost or spoilt of a partition's hash: each a thing done to it, alone, on a twin or on a real Redis."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping

import msgspec

from schemas.checkpoint import SessionField, Slot

__all__ = ["CONTROL_DAMAGES", "DAMAGES", "SESSION_DAMAGES", "Damage"]

Damage = Callable[[MutableMapping[str, bytes]], object]
"""Spoils a hash, field by field: ``t``, ``i``, ``m``, and ``s:`` with each session's name."""


def _sessions(fields: MutableMapping[str, bytes]) -> list[str]:
    return sorted(name for name in fields if name.startswith("s:"))


def _lose(name: str) -> Damage:
    return lambda fields: fields.pop(name, None)


def _put(name: str, value: bytes) -> Damage:
    def put(fields: MutableMapping[str, bytes]) -> None:
        fields[name] = value

    return put


def _cut(name: str) -> Damage:
    def cut(fields: MutableMapping[str, bytes]) -> None:
        fields[name] = fields[name][: len(fields[name]) // 2]

    return cut


def _of_a_session(damage: Callable[[str], Damage]) -> Damage:
    return lambda fields: damage(_sessions(fields)[0])(fields)


def _another_sessions(fields: MutableMapping[str, bytes]) -> None:
    first, second, *_ = _sessions(fields)
    fields[first] = fields[second]


def _one_byte(fields: MutableMapping[str, bytes]) -> None:
    name = _sessions(fields)[0]
    (*others, last) = msgspec.msgpack.decode(fields[name], type=SessionField).slots
    state = last.state or b""
    at = state.index(b"-w")  # inside a word
    spoilt = Slot(last.id, state[:at] + b"+" + state[at + 1 :])
    fields[name] = msgspec.msgpack.encode(SessionField((*others, spoilt)))


def _slots(*slots: Slot) -> Damage:
    return _of_a_session(lambda name: _put(name, msgspec.msgpack.encode(SessionField(slots))))


def _newer_manifest(fields: MutableMapping[str, bytes]) -> None:
    fields["m"] = msgspec.msgpack.encode(["2.0", fields["i"].decode(), {"follows": "said otherwise"}])


def _ids_that_are_none(fields: MutableMapping[str, bytes]) -> None:
    manifest = msgspec.msgpack.decode(fields["m"])
    fields["m"] = msgspec.msgpack.encode([manifest[0], "no id", "none either", *manifest[3:]])


SESSION_DAMAGES: dict[str, Damage] = {
    "a session lost": _of_a_session(_lose),
    "a session emptied": _of_a_session(lambda name: _put(name, b"")),
    "a session cut": _of_a_session(_cut),
    "a session overwritten": _of_a_session(lambda name: _put(name, b"\xc1\x00\xff")),
    "a session overwritten by another": _another_sessions,
    "a byte of a word changed": _one_byte,
    "a session without slots": _slots(),
    "a slot of no checkpoint": _slots(Slot("no id", b"")),
    "a slot that is no state": _slots(Slot("1.1.0123456789abcdef", b"\xc1")),
    "a session too many": _put("s:zoe", msgspec.msgpack.encode(SessionField((Slot("1.1.0123456789abcdef", b""),)))),
    "a name that is no text": _put("s:\udcff", b"\xc1"),
}
CONTROL_DAMAGES: dict[str, Damage] = {
    "the manifest lost": _lose("m"),
    "the manifest emptied": _put("m", b""),
    "the manifest cut": _cut("m"),
    "the manifest overwritten": _put("m", b"\xc1\x00\xff"),
    "a manifest of a newer release": _newer_manifest,
    "a manifest whose ids are none": _ids_that_are_none,
    "the id lost": _lose("i"),
    "the id emptied": _put("i", b""),
    "the id cut": _cut("i"),
    "the id overwritten": _put("i", b"\xff\x00"),
    "the token lost": _lose("t"),
    "the token emptied": _put("t", b""),
    "the token overwritten": _put("t", b"\xff\x00"),
    "a token beyond what is exact": _put("t", b"9" * 20),
    "a token at the edge of what is exact": _put("t", b"9007199254740991"),
    "a token below zero": _put("t", b"-7"),
    "a token that is no whole number": _put("t", b"0x1p3"),
    "a token that is infinite": _put("t", b"inf"),
    "all lost but the sessions": lambda fields: [fields.pop(name) for name in "tim"],
}
DAMAGES = SESSION_DAMAGES | CONTROL_DAMAGES
