"""JSON Schema files of what goes over the wire, generated from the types: MessagePack maps have the same shape.

``python -m caesura.schemas`` writes them, ``python -m caesura.schemas --check`` says whether they are current.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import msgspec

from caesura.schemas.events import WordsEvent
from caesura.schemas.segments import Segment, TranslationSegment
from caesura.schemas.tentative import Tentative
from caesura.schemas.versions import EVENT_VERSION, SEGMENT_VERSION, TENTATIVE_VERSION

FOLDER = Path(__file__).parent / "json"

_WIRE: dict[str, tuple[type[msgspec.Struct], str]] = {
    "asr.words": (WordsEvent, EVENT_VERSION),
    "asr.segments": (Segment, SEGMENT_VERSION),
    "asr.tentative": (Tentative, TENTATIVE_VERSION),
    "translate": (TranslationSegment, SEGMENT_VERSION),
}


def schema_files() -> dict[str, str]:
    """Return the text of each file by its name."""
    return {f"{topic}.schema.json": _schema(topic, *described) for topic, described in _WIRE.items()}


def stale_files(folder: Path = FOLDER) -> list[str]:
    """Return the names of files that are missing, differ from the types, or belong to none; empty where all is well."""
    expected = schema_files()
    found = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.json")}
    return sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))


def write_files(folder: Path = FOLDER) -> None:
    """Write every file, and remove those that belong to no type."""
    folder.mkdir(exist_ok=True)
    expected = schema_files()
    for path in folder.glob("*.json"):
        if path.name not in expected:
            path.unlink()
    for name, text in expected.items():
        (folder / name).write_text(text, encoding="utf-8")


def _schema(topic: str, struct: type[msgspec.Struct], version: str) -> str:
    schema = msgspec.json.schema(struct)
    for definition in schema["$defs"].values():
        if "description" in definition:
            definition["description"] = inspect.cleandoc(definition["description"])
    described = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": topic,
        "$comment": f"version {version}; the wire is MessagePack, a map for an object",
        **schema,
    }
    return json.dumps(described, ensure_ascii=False, indent=2) + "\n"
