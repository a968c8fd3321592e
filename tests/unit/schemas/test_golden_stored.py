"""Golden examples of what is stored, in Redis and in the ledger: a release reads what those before it have written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from schemas.checkpoint import MANIFEST_VERSION, Manifest
from schemas.json_schema import FOLDER
from schemas.state import (
    STATE_VERSION,
    LedgerState,
    SessionState,
    StateVersion,
    decode_ledger,
    decode_state,
)
from worker.core.context import DecodingContext
from worker.core.segmentation import segmenters
from worker.core.session import Session

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

FIELDS_OF_1_1 = set(SessionState.__struct_fields__) - {"casing"}
FIELDS_OF_1_0 = FIELDS_OF_1_1 - {"traces"}


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
    assert {kind(path) for path in EXAMPLES if path.parent.name == MANIFEST_VERSION} >= {"manifest"}


def test_what_stands_in_a_ledger_example_is_no_words_text() -> None:
    said = {b"good", b"morning", b"Uh,", "大家".encode()}
    examples = list(STORED.glob("*/ledger.*.msgpack"))
    assert examples
    for path in examples:
        assert not any(word in path.read_bytes() for word in said)


def written_on(state: SessionState, version: StateVersion) -> bytes:
    """Return the state as a worker that goes on with it would store it next."""
    context = DecodingContext(topic="words", partition=0, segmenters=segmenters, state_version=version)
    return Session.restore(state, context).snapshot()


def test_the_open_session_of_the_release_before_is_written_on_byte_for_byte_as_that_release_wrote_it() -> None:
    of_1_0 = (STORED / "1.0" / "state.open.msgpack").read_bytes()
    assert written_on(decode_state(of_1_0), "1.0") == of_1_0
    assert written_on(decode_state(of_1_0), "1.1") != of_1_0
    of_1_1 = (STORED / "1.1" / "state.open.msgpack").read_bytes()
    assert written_on(decode_state(of_1_1), "1.1") == of_1_1
    assert written_on(decode_state(of_1_1), "1.2") != of_1_1
    of_1_2 = (STORED / "1.2" / "state.open.msgpack").read_bytes()
    assert written_on(decode_state(of_1_2), "1.2") == of_1_2
    assert written_on(decode_state(of_1_2), "1.3") != of_1_2


@pytest.mark.parametrize("path", sorted(STORED.glob("*/state.*.msgpack")), ids=lambda path: path.parent.name)
def test_written_as_a_release_before_a_state_loses_what_was_new_after_it_and_nothing_else(path: Path) -> None:
    state = decode_state(path.read_bytes())
    assert decode_state(written_on(state, "1.3")) == msgspec.structs.replace(state, version="1.3")
    state = msgspec.structs.replace(
        state, version="1.2", options=msgspec.structs.replace(state.options, own_fillers=(), kept_phrases=())
    )
    written = written_on(decode_state(path.read_bytes()), "1.2")
    assert decode_state(written) == state
    assert b"own_fillers" not in written
    written = written_on(state, "1.1")
    assert decode_state(written) == msgspec.structs.replace(state, version="1.1", casing=b"")
    assert set(msgspec.msgpack.decode(written)) <= FIELDS_OF_1_1
    written = written_on(state, "1.0")
    assert decode_state(written) == msgspec.structs.replace(state, version="1.0", casing=b"", traces=())
    assert set(msgspec.msgpack.decode(written)) <= FIELDS_OF_1_0
