"""Writes ``chart/values.schema.json``: the chart's own values, and the worker's settings read off their tree.

``python -m deploy.values_schema`` writes it, ``--check`` says whether it is current (exit 1: it is not).
"""

from __future__ import annotations

import argparse
import enum
import json
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from caesura.worker.settings.catalogue import Leaf, shown
from caesura.worker.settings.tree import open_settings
from deploy.values_shapes import Schema, chart_values, reference

_TARGET = Path(__file__).with_name("chart") / "values.schema.json"
_JSON_TYPES: Mapping[object, str] = {int: "integer", float: "number", bool: "boolean", str: "string"}
_OWN_REFUSAL = {
    "worker.ordinal": "Taken from the pod's place in the StatefulSet; see firstOrdinal.",
    "kafka.group_instance_id": "See staticMembership.",
}
"""Settings that the templates refuse with a sentence of their own, better than a schema's."""


def schema() -> Schema:
    """Return the schema of the chart's values."""
    settings = list(open_settings())
    sections: dict[str, Schema] = {}
    for leaf in settings:
        section = sections.setdefault(leaf.section, {"type": ["object", "null"], "additionalProperties": False})
        section.setdefault("properties", {})[leaf.name] = _setting(leaf)
    secrets = {leaf.path: reference(leaf.description) for leaf in settings if leaf.secret or _is_name(leaf)}
    return chart_values(
        settings={"type": "object", "additionalProperties": False, "properties": sections},
        secrets={"type": "object", "additionalProperties": False, "properties": secrets},
    )


def _is_name(leaf: Leaf) -> bool:
    """Whether a setting is who one is: no secret, but it often stands beside one, in the same Secret."""
    return leaf.name.endswith(("username", "oauth_client_id"))


def _setting(leaf: Leaf) -> Schema:
    if leaf.secret or leaf.path in _OWN_REFUSAL:
        return {"description": _OWN_REFUSAL.get(leaf.path, "A secret: see the value secrets.")}
    found = _of_type(leaf.type)
    if leaf.is_optional:
        found = {"anyOf": [found, {"type": "null"}]}
    default = shown(leaf, leaf.default) or "none"
    described = leaf.description if leaf.required else f"{leaf.description} Default: {default}."
    return {"description": described, **found}


def _of_type(annotation: Any) -> Schema:  # noqa: ANN401 - an annotation can be any object
    """Return the schema of a value as YAML writes it; what it cannot say the worker refuses at its start."""
    origin = typing.get_origin(annotation)
    if hasattr(annotation, "__metadata__"):
        inner = _of_type(typing.get_args(annotation)[0])
        for note in annotation.__metadata__:
            inner |= _bounds(note, inner)
        found = inner
    elif origin in (typing.Union, types.UnionType):
        kinds = [part for part in typing.get_args(annotation) if part is not type(None)]
        found = _of_type(kinds[0]) if len(kinds) == 1 else {"type": [_JSON_TYPES[kind] for kind in kinds]}
    elif origin is typing.Literal:
        found = {"enum": list(typing.get_args(annotation))}
    elif isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        found = {"enum": [member.value for member in annotation]}
    elif origin in (tuple, list, frozenset):
        found = _list(typing.get_args(annotation)[0])
    elif is_dataclass(annotation):
        found = _fields(annotation)
    elif origin is Mapping or origin is dict:
        found = {"type": "object", "additionalProperties": {"type": ["string", "integer", "boolean"]}}
    else:
        found = {"type": _JSON_TYPES[annotation]}
    return found


def _list(annotation: Any) -> Schema:  # noqa: ANN401 - an annotation can be any object
    """Return the schema of a list; items that can be written as text are all text, or none of them is."""
    values: Schema = {"type": "array", "items": _of_type(annotation)}
    if not hasattr(annotation, "parse"):
        return values
    return {"anyOf": [{"type": "array", "items": {"type": "string"}}, values]}


def _fields(dataclass: Any) -> Schema:  # noqa: ANN401 - a dataclass as a value
    hints = typing.get_type_hints(dataclass, include_extras=True)
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {name: _of_type(hint) for name, hint in hints.items()},
    }


def _bounds(note: Any, inner: Schema) -> Schema:  # noqa: ANN401 - a note of Annotated can be any object
    if inner.get("type") in ("integer", "number"):
        named = {"minimum": note.ge, "maximum": note.le}
    elif inner.get("type") == "string":
        named = {"minLength": note.min_length, "maxLength": note.max_length, "pattern": note.pattern}
    else:  # an empty list means that nothing was given, which the templates say better
        named = {}
    return {name: bound for name, bound in named.items() if bound is not None}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="say whether the file is current, and write nothing")
    return parser.parse_args()


def _lines() -> Iterator[str]:
    yield json.dumps(schema(), indent=1, ensure_ascii=False)
    yield "\n"


def main() -> int:
    """Write or check the file; return the exit status."""
    text = "".join(_lines())
    if _arguments().check:
        if _TARGET.exists() and _TARGET.read_text(encoding="utf-8") == text:
            return 0
        sys.stderr.write(f"{_TARGET} is not current: python -m deploy.values_schema writes it\n")
        return 1
    _TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
