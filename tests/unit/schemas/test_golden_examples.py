"""Golden examples: every version that a release reads, decoded and encoded again byte for byte."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from jsonschema import Draft202012Validator

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
from caesura.schemas.tentative import Tentative
from caesura.schemas.versions import EVENT_VERSION, READ_MAJORS, SEGMENT_VERSION

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
