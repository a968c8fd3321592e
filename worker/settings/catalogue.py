"""Lists the settings of a tree of dataclasses: name, type, default, bounds and when it may change.

A leaf is a field of a section (``worker.commit_interval_ms``). Its class's docstring describes it (``name: text``), and
its ``msgspec.Meta`` has its bounds and when it may change. A field with ``repr=False`` is a secret and is never shown.
"""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from msgspec import Meta

_CREDENTIALS = re.compile(r"(\w://)\S+@")  # up to the last @: a password may hold a slash
AT_A_ROLL_OUT = "at a roll-out"
SECRET_SHOWN = "(set, not shown)"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One setting.

    type: the annotation as written. meta: its bounds, if any. change: when it may change while sessions live.
    description: what it is for; empty where the docstring has no text.
    """

    section: str
    name: str
    type: Any
    default: object
    required: bool
    secret: bool
    meta: Meta | None
    change: str
    description: str

    @property
    def path(self) -> str:
        """Its name in a file and after ``--set``: ``section.name``."""
        return f"{self.section}.{self.name}"

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return f"CAESURA_{self.section}_{self.name}".upper()

    @property
    def is_list(self) -> bool:
        """Whether it holds several values."""
        return typing.get_origin(_without_none(self.type)) in (tuple, list, frozenset)

    @property
    def is_mapping(self) -> bool:
        """Whether it holds names with values; a value of several fields does."""
        inner = _without_none(self.type)
        return typing.get_origin(inner) in (dict, Mapping) or dataclasses.is_dataclass(inner)

    @property
    def item_type(self) -> Any:  # noqa: ANN401 - an annotation can be any object
        """What a list holds."""
        return typing.get_args(_without_none(self.type))[0]

    @property
    def is_optional(self) -> bool:
        """Whether it may be left empty."""
        inner = typing.get_args(self.type)[0] if hasattr(self.type, "__metadata__") else self.type
        return type(None) in typing.get_args(inner)

    @property
    def bounds(self) -> str:
        """The values it may take, as text."""
        inner = _without_none(self.type)
        if inner is bool:
            return "`true`, `false`"
        choices: list[object] = []
        if isinstance(inner, type) and issubclass(inner, Enum):
            choices = [member.value for member in inner]
        elif typing.get_origin(inner) is typing.Literal:
            choices = list(typing.get_args(inner))
        if choices:
            return ", ".join(f"`{value}`" for value in choices)
        return _range(self.meta) if self.meta else ""


def leaves(tree: type) -> Iterator[Leaf]:
    """Yield every setting of a tree whose fields are dataclasses (the sections), in the order they are written."""
    for section, section_type in typing.get_type_hints(tree).items():
        hints = typing.get_type_hints(section_type, include_extras=True)
        descriptions = _descriptions(section_type)
        change = getattr(section_type, "CHANGE", AT_A_ROLL_OUT)
        for field in dataclasses.fields(section_type):
            annotation, meta = _split(hints[field.name])
            default = field.default
            if field.default_factory is not dataclasses.MISSING:
                default = field.default_factory()
            yield Leaf(
                section=section,
                name=field.name,
                type=annotation,
                default=None if default is dataclasses.MISSING else default,
                required=default is dataclasses.MISSING,
                secret=not field.repr,
                meta=meta,
                change=((meta and meta.extra) or {}).get("change", change),
                description=descriptions.get(field.name, ""),
            )


def shown(leaf: Leaf, value: object) -> str:
    """Return a value as text for people; a secret only as set or not."""
    if leaf.secret:
        return SECRET_SHOWN if value else ""
    return _text(value)


def _text(value: object) -> str:
    match value:
        case None:
            text = ""
        case bool():
            text = str(value).lower()
        case Enum():
            text = str(value.value)
        case Mapping():
            text = ", ".join(value)  # names alone: values of foreign options may be secrets
        case frozenset():
            text = ", ".join(sorted(map(_text, value)))
        case tuple() | list():
            text = ", ".join(_text(item) for item in value)
        case _ if dataclasses.is_dataclass(value) and type(value).__str__ is object.__str__:
            text = ", ".join(f"{field.name}={_text(getattr(value, field.name))}" for field in dataclasses.fields(value))
        case _:
            text = _CREDENTIALS.sub(r"\1***@", str(value))
    return text


def _range(meta: Meta) -> str:
    lower = next((v for v in (meta.ge, meta.min_length) if v is not None), None)
    upper = next((v for v in (meta.le, meta.max_length) if v is not None), None)
    if lower is not None and upper is not None:
        return f"{lower:,} to {upper:,}"
    if lower is not None:
        return f"at least {lower:,}"
    if upper is not None:
        return f"at most {upper:,}"
    return f"`{meta.pattern}`" if meta.pattern else ""


def _descriptions(section_type: type) -> dict[str, str]:
    """Read ``name, name: text`` off the docstrings of a class and those it extends; each goes on until the next one."""
    names = "|".join(field.name for field in dataclasses.fields(section_type))
    found: dict[str, str] = {}
    for above in reversed(section_type.__mro__):
        document = " ".join((above.__doc__ or "").split()).replace("``", "`")
        starts = list(re.finditer(rf"\b((?:{names})(?:, (?:{names}))*): ", document))
        ends = [*(start.start() for start in starts[1:]), len(document)]
        for start, end in zip(starts, ends, strict=False):  # no start: one end too many
            text = document[start.end() : end].strip().rstrip(".;") + "."
            found |= dict.fromkeys(start[1].split(", "), text[:1].upper() + text[1:])
    return found


def _split(annotation: Any) -> tuple[Any, Meta | None]:  # noqa: ANN401 - an annotation can be any object
    """Part an annotation into the type to convert to (its ``Meta`` kept) and the ``Meta`` found in it."""
    for part in (annotation, *typing.get_args(annotation)):
        for note in getattr(part, "__metadata__", ()):
            if isinstance(note, Meta):
                return annotation, note
    return annotation, None


def _without_none(annotation: Any) -> Any:  # noqa: ANN401 - an annotation can be any object
    if hasattr(annotation, "__metadata__"):
        return _without_none(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        present = [part for part in typing.get_args(annotation) if part is not type(None)]
        return _without_none(present[0]) if len(present) == 1 else annotation
    return annotation
