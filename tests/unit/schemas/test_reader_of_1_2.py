"""A consumer that knows only version 1.2 reads what is written today as it was written then.

``golden/1.2/schemas`` has the JSON Schema of that version, as published.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import pytest
from jsonschema import Draft202012Validator

from caesura.schemas.events import SessionOptions
from caesura.schemas.json_schema import FOLDER
from caesura.schemas.labels import Casing, Disfluency, Punctuation, probability_number
from caesura.schemas.segments import NumberForm
from caesura.schemas.wire import WireFormat
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.adapters.memory.publisher import MemoryTentativePublisher
from caesura.worker.core.language.labelling import Probabilities
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.runtime.settings.routes import Route
from tests.harness.in_memory_world import World
from tests.harness.speech import event

Json: TypeAlias = Any
GOLDEN = Path(FOLDER).parent / "golden"
THEN = GOLDEN / "1.2" / "schemas"
TOPICS = {"segment": "asr.segments", "tentative": "asr.tentative", "translation": "translate"}
WRITTEN_SINCE = sorted(path for path in GOLDEN.glob("1.3/*.json") if path.name.split(".")[0] in TOPICS)

SAID = (
    "so uh we pay twenty two dollars for post gres and and then six hundred people came yes".split()  # noqa: SIM905
)
NEW_FIELDS = {
    "asr.segments": {"words.punctuation_probability", "words.disfluency_probability", "turn_end", "numbers"},
    "translate": {"overlays", "words.punctuation_probability", "numbers", "spellings"},
    "asr.tentative": {"words.punctuation_probability", "turn_end", "numbers"},
}


def script(_: str, words: Sequence[str], place: int, __: int) -> tuple[int, ...]:
    mark = {"gres": Punctuation.PERIOD, "dollars": Punctuation.COMMA}.get(words[place], Punctuation.NONE)
    tag = Disfluency.B_IM if words[place] == "uh" else Disfluency.O
    return mark, tag, Casing.SMALL, probability_number(83), probability_number(97), probability_number(62)


def published(folder: Path, topic: str) -> dict[str, Json]:
    schema = json.loads((folder / f"{topic}.schema.json").read_text(encoding="utf-8"))
    assert isinstance(schema, dict)
    return schema


def as_read(value: Json, topic: str) -> Json:
    """Return what a reader of 1.2 has of a message: checked by its schema, without the fields that it does not know."""
    schema = published(THEN, topic)
    Draft202012Validator(schema).validate(value)
    return _known(value, schema, schema["$defs"])


def _known(value: Json, schema: dict[str, Json], definitions: dict[str, Json]) -> Json:
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    for option in schema.get("anyOf", ()):
        if isinstance(value, dict) and "$ref" in option:
            return _known(value, option, definitions)
    if isinstance(value, dict) and "properties" in schema:
        known = schema["properties"]
        return {name: _known(inner, known[name], definitions) for name, inner in value.items() if name in known}
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return [_known(inner, schema["items"], definitions) for inner in value]
    return value


def fields_of(messages: list[Json]) -> set[str]:
    """Return the names of the fields that messages have, those of their words after a dot."""
    words = [word for message in messages for word in message["words"]]
    return {name for message in messages for name in message} | {f"words.{name}" for word in words for name in word}


@pytest.mark.parametrize("path", WRITTEN_SINCE, ids=lambda path: path.stem)
def test_a_golden_message_of_1_3_is_valid_for_a_reader_of_1_2(path: Path) -> None:
    message = json.loads(path.read_text(encoding="utf-8"))
    read = as_read(message, TOPICS[path.name.split(".")[0]])
    assert read["session"] == message["session"]
    assert [word["text"] for word in read["words"]] == [word["text"] for word in message["words"]]


@pytest.mark.parametrize("topic", TOPICS.values())
def test_todays_schema_keeps_each_field_of_1_2_and_requires_no_other(topic: str) -> None:
    then, now = published(THEN, topic), published(FOLDER, topic)
    assert now["$ref"] == then["$ref"]
    for name, definition in then["$defs"].items():
        today = now["$defs"][name]
        assert "additionalProperties" not in definition
        assert today.get("required") == definition.get("required")
        assert today.get("enum") == definition.get("enum")
        for field, described in definition.get("properties", {}).items():
            assert today["properties"][field] == described, f"{name}.{field}"


def _run(*, everything: bool) -> dict[str, list[Json]]:
    """Return each topic's records of one session, with everything that 1.3 added or without."""
    publisher = MemoryTentativePublisher()
    routes = (Route(target="de", topic="translate.de", numbers=NumberForm.DIGITS if everything else NumberForm.WORDS),)
    probabilities = Probabilities.WORDS if everything else Probabilities.OFF
    world = World(rules=DecodingRules(routes=frozenset({"de"}), probabilities=probabilities))
    worker = world.worker(
        engine=ScriptedEngine(script=script),
        tentative=publisher,
        tentative_topic="asr.tentative",
        routes=routes,
        wire_format=WireFormat.JSON,
    )
    worker.settle()
    wishes = SessionOptions(numbers=NumberForm.DIGITS, spellings={"post gres": "PostgreSQL"})
    options = wishes if everything else SessionOptions()
    for seq, at in enumerate(range(0, len(SAID), 3)):
        rest: dict[str, Json] = {"targets": ("de",), "options": options} if seq == 0 else {}
        world.send(event("ann", seq, *SAID[at : at + 3], utterance_end=at == 12, **rest))
        worker.turn(6)
    world.send(event("ann", -(-len(SAID) // 3), session_end=True))
    worker.settle()
    worker.worker.drain()
    values: dict[str, list[bytes | None]] = {
        "asr.segments": [record.value for record in world.records("asr.segments")],
        "translate": [record.value for record in world.records("translate.de")],
        "asr.tentative": [value for _, _, value in publisher.records],
    }
    return {topic: [msgspec.json.decode(value or b"") for value in records] for topic, records in values.items()}


def test_what_1_3_adds_changes_no_field_that_a_reader_of_1_2_knows() -> None:
    plain, full = _run(everything=False), _run(everything=True)
    rendered = {"text", "spans"}
    for topic, new in NEW_FIELDS.items():
        assert new <= fields_of(full[topic]), topic
        assert new.isdisjoint(fields_of(plain[topic])), topic
        then = [as_read(message, topic) for message in plain[topic]]
        now = [as_read(message, topic) for message in full[topic]]
        assert now
        for before, after in zip(then, now, strict=True):
            assert {name: after[name] for name in after.keys() - rendered} == {
                name: before[name] for name in before.keys() - rendered
            }


def test_a_reader_of_1_2_finds_each_word_of_an_overlay_by_its_span() -> None:
    routed = _run(everything=True)["translate"]
    overlays = [(message, overlay) for message in routed for overlay in message.get("overlays", ())]
    assert {overlay["kind"] for _, overlay in overlays} == {"number", "spelling"}
    for message, overlay in overlays:
        read = as_read(message, "translate")
        spans = {index: [begin, end] for index, begin, end in read["spans"]}
        replaced = range(overlay["first_word"], overlay["last_word"] + 1)
        found = [spans[index] for index in replaced if index in spans]
        assert found
        assert all(span == [overlay["start"], overlay["end"]] for span in found)
