"""Golden examples: every version that a release reads, decoded and encoded again byte for byte."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from jsonschema import Draft202012Validator

from caesura.schemas.__main__ import main
from caesura.schemas.checkpoint import MANIFEST_VERSION, Manifest
from caesura.schemas.codec import (
    decode_event,
    decode_segment,
    decode_tentative,
    decode_translation,
    encode_event,
    encode_segment,
    encode_tentative,
    encode_translation,
)
from caesura.schemas.events import WordsEvent
from caesura.schemas.json_schema import FOLDER, stale_files, write_files
from caesura.schemas.segments import Segment, TranslationSegment
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
from caesura.schemas.tentative import Tentative
from caesura.schemas.versions import EVENT_VERSION, READ_MAJORS, SEGMENT_VERSION
from caesura.worker.core.decoding.context import DecodingContext
from caesura.worker.core.language.segmentation import segmenters
from caesura.worker.core.session.session import Session

GOLDEN = Path(FOLDER).parent / "golden"
MESSAGES = sorted(GOLDEN.glob("*/*.msgpack"))
SCHEMA_OF = {
    "words": "asr.words",
    "segment": "asr.segments",
    "tentative": "asr.tentative",
    "translation": "translate",
}


def again(path: Path) -> bytes:
    """Decode a message and encode what came out."""
    data = path.read_bytes()
    kind = path.name.split(".")[0]
    if kind == "words":
        return encode_event(decode_event(data))
    if kind == "segment":
        return encode_segment(decode_segment(data))
    if kind == "tentative":
        return encode_tentative(decode_tentative(data))
    return encode_translation(decode_translation(data))


@pytest.mark.parametrize("path", MESSAGES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_golden_message_is_read_and_written_again_byte_for_byte(path: Path) -> None:
    fields = msgspec.msgpack.decode(path.read_bytes())
    assert msgspec.msgpack.decode(again(path)) == fields
    if path.parent.name in (EVENT_VERSION, SEGMENT_VERSION):  # a map of more fields may have a longer head
        assert again(path) == path.read_bytes()
    assert fields == json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", MESSAGES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_golden_message_in_json_is_the_same_message(path: Path) -> None:
    decode: dict[str, Callable[[bytes], msgspec.Struct]] = {
        "words": decode_event,
        "segment": decode_segment,
        "tentative": decode_tentative,
        "translation": decode_translation,
    }
    read = decode[path.name.split(".")[0]]
    assert read(path.with_suffix(".json").read_bytes()) == read(path.read_bytes())


@pytest.mark.parametrize("path", MESSAGES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_golden_message_is_as_the_json_schema_says(path: Path) -> None:
    schema = json.loads((FOLDER / f"{SCHEMA_OF[path.name.split('.')[0]]}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(msgspec.msgpack.decode(path.read_bytes()))


@pytest.mark.parametrize("kind", SCHEMA_OF)
def test_every_major_that_is_read_has_examples_of_every_kind(kind: str) -> None:
    for major in READ_MAJORS:
        assert list(GOLDEN.glob(f"{major}.*/{kind}.*.msgpack"))


@pytest.mark.parametrize("version", [EVENT_VERSION, SEGMENT_VERSION])
def test_the_version_that_is_written_has_examples(version: str) -> None:
    assert (GOLDEN / version).is_dir()


def test_the_json_schema_files_are_current() -> None:
    assert stale_files() == []


def test_a_file_that_is_missing_changed_or_left_over_is_named(tmp_path: Path) -> None:
    write_files(tmp_path)
    (tmp_path / "asr.words.schema.json").unlink()
    (tmp_path / "translate.schema.json").write_text("{}", encoding="utf-8")
    (tmp_path / "old.schema.json").write_text("{}", encoding="utf-8")
    assert stale_files(tmp_path) == ["asr.words.schema.json", "old.schema.json", "translate.schema.json"]
    write_files(tmp_path)
    assert stale_files(tmp_path) == []


@pytest.mark.parametrize(
    ("struct", "file"),
    [
        (WordsEvent, "asr.words"),
        (Segment, "asr.segments"),
        (Tentative, "asr.tentative"),
        (TranslationSegment, "translate"),
    ],
)
def test_a_schema_names_every_field_of_its_type(struct: type[msgspec.Struct], file: str) -> None:
    schema = json.loads((FOLDER / f"{file}.schema.json").read_text(encoding="utf-8"))
    assert list(schema["$defs"][struct.__name__]["properties"]) == [f.name for f in msgspec.structs.fields(struct)]


@pytest.mark.parametrize(
    ("decode", "kind"), [(decode_segment, "segment.sentence"), (decode_translation, "translation.sentence")]
)
def test_a_later_minor_version_of_a_segment_is_read_by_todays_consumer(
    decode: Callable[[bytes], Segment], kind: str
) -> None:
    fields = msgspec.msgpack.decode((GOLDEN / f"1.0/{kind}.msgpack").read_bytes())
    later = decode(msgspec.msgpack.encode({**fields, "version": "1.9", "mood": {"calm": [1, 2]}}))
    assert later.version == "1.9"
    assert len(later.words) == len(fields["words"])


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


def test_check_passes_on_the_files_as_committed() -> None:
    assert main(["--check"]) == 0
