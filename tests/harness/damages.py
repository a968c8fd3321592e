"""What can be lost or spoilt of a partition's hash: each a thing done to it, alone, on a twin or on a real Redis."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping

import msgspec

Damage = Callable[[MutableMapping[str, bytes]], object]
"""Spoils a hash, field by field: ``i``, ``m``, and ``s:`` with each session's name."""


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
    state = fields[name]
    at = state.index(b"-w")  # inside a word
    fields[name] = state[:at] + b"+" + state[at + 1 :]


def _newer_manifest(fields: MutableMapping[str, bytes]) -> None:
    fields["m"] = msgspec.msgpack.encode(["3.0", fields["i"].decode(), {"sessions": "counted otherwise"}])


def _ids_that_are_none(fields: MutableMapping[str, bytes]) -> None:
    manifest = msgspec.msgpack.decode(fields["m"])
    fields["m"] = msgspec.msgpack.encode([manifest[0], "no id", *manifest[2:]])


SESSION_DAMAGES: dict[str, Damage] = {
    "a session lost": _of_a_session(_lose),
    "a session emptied": _of_a_session(lambda name: _put(name, b"")),
    "a session cut": _of_a_session(_cut),
    "a session overwritten": _of_a_session(lambda name: _put(name, b"\xc1\x00\xff")),
    "a session overwritten by another": _another_sessions,
    "a byte of a word changed": _one_byte,
    "a session too many": _put("s:zoe", b"\x80"),
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
    "all lost but the sessions": lambda fields: [fields.pop(name, None) for name in "im"],
}
DAMAGES = SESSION_DAMAGES | CONTROL_DAMAGES
