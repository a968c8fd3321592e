"""Golden examples of what is stored, in Redis and in the ledger."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from caesura.schemas.checkpoint import MANIFEST_VERSION, Manifest
from caesura.schemas.json_schema import FOLDER
from caesura.schemas.state import (
    STATE_VERSION,
    AdmissionState,
    DecodingState,
    LedgerState,
    OutputState,
    SessionState,
    decode_ledger,
    decode_state,
)
from caesura.worker.core.decoding.context import DecodingContext
from caesura.worker.core.language.segmentation import segmenters
from caesura.worker.core.session.session import Session

STORED = Path(FOLDER).parent / "golden" / "stored"
EXAMPLES = sorted(STORED.glob("*/*.msgpack"))
READ: dict[str, Callable[[bytes], object]] = {
    "state": decode_state,
    "ledger": decode_ledger,
    "manifest": Manifest.decode,
}
WRITTEN = {
    "state": STATE_VERSION,
    "ledger": STATE_VERSION,
    "manifest": MANIFEST_VERSION,
}


def kind(path: Path) -> str:
    return path.name.split(".")[0]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_an_example_is_read_as_it_was_meant(path: Path) -> None:
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
    for part, of_part in (("admission", AdmissionState), ("output", OutputState), ("decoding", DecodingState)):
        assert {field for one in stored for field in one[part]} == set(of_part.__struct_fields__)


def test_what_stands_in_a_ledger_example_is_no_words_text() -> None:
    said = {b"good", b"morning", b"Uh,", "大家".encode()}
    examples = list(STORED.glob("*/ledger.*.msgpack"))
    assert examples
    for path in examples:
        assert not any(word in path.read_bytes() for word in said)


def test_an_open_session_that_is_restored_is_stored_byte_for_byte_again() -> None:
    stored = (STORED / STATE_VERSION / "state.open.msgpack").read_bytes()
    context = DecodingContext(topic="words", partition=0, segmenters=segmenters)
    assert Session.restore(decode_state(stored), context).snapshot() == stored


@pytest.mark.parametrize("version", ["1.4", "3.0"])
def test_a_snapshot_of_another_major_version_is_refused(version: str) -> None:
    state = decode_state((STORED / STATE_VERSION / "state.open.msgpack").read_bytes())
    with pytest.raises(ValueError, match="another major version"):
        decode_state(msgspec.msgpack.encode(msgspec.structs.replace(state, version=version)))
