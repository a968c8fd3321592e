"""Golden examples of what is stored, in Redis and in the ledger: a release reads what those before it have written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from schemas.checkpoint import Manifest, SessionField
from schemas.json_schema import FOLDER
from schemas.state import STATE_VERSION, LedgerState, SessionState, decode_ledger, decode_state
from worker.runtime.claim import MANIFEST_VERSION

STORED = Path(FOLDER).parent / "golden" / "stored"
EXAMPLES = sorted(STORED.glob("*/*.msgpack"))
READ: dict[str, Callable[[bytes], object]] = {
    "state": decode_state,
    "ledger": decode_ledger,
    "manifest": Manifest.decode,
    "field": msgspec.msgpack.Decoder(SessionField).decode,
}
WRITTEN = {"state": STATE_VERSION, "ledger": STATE_VERSION, "manifest": MANIFEST_VERSION, "field": MANIFEST_VERSION}


def kind(path: Path) -> str:
    return path.name.split(".")[0]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_an_example_of_any_version_is_read_as_it_was_meant(path: Path) -> None:
    read = READ[kind(path)](path.read_bytes())
    assert msgspec.json.format(msgspec.json.encode(read), indent=2) == path.with_suffix(".json").read_bytes().rstrip()


@pytest.mark.parametrize(
    "path", [path for path in EXAMPLES if path.parent.name == WRITTEN[kind(path)]], ids=lambda path: path.stem
)
def test_an_example_of_todays_version_is_written_byte_for_byte(path: Path) -> None:
    assert msgspec.msgpack.encode(READ[kind(path)](path.read_bytes())) == path.read_bytes()


@pytest.mark.parametrize(("name", "struct"), [("state", SessionState), ("ledger", LedgerState)])
def test_todays_examples_have_every_field(name: str, struct: type[msgspec.Struct]) -> None:
    stored = [msgspec.msgpack.decode(path.read_bytes()) for path in (STORED / STATE_VERSION).glob(f"{name}.*.msgpack")]
    assert {field for one in stored for field in one} == set(struct.__struct_fields__)


def test_every_minor_version_up_to_todays_has_examples() -> None:
    major, minor = map(int, STATE_VERSION.split("."))
    for number in range(minor + 1):
        assert {kind(path) for path in EXAMPLES if path.parent.name == f"{major}.{number}"} >= {"state", "ledger"}
    assert {kind(path) for path in EXAMPLES if path.parent.name == MANIFEST_VERSION} >= {"manifest", "field"}


def test_what_stands_in_a_ledger_example_is_no_words_text() -> None:
    said = {b"good", b"morning", b"Uh,", "大家".encode()}
    for path in STORED.glob("*/ledger.*.msgpack"):
        assert not any(word in path.read_bytes() for word in said)
