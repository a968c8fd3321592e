"""Finds the source of a setting's value: flags before environment before file before default.

Every name in each source is checked. All errors are reported at once, each with the name that was probably meant. A
wrong value is quoted, unless it may hold a secret.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, get_type_hints

import msgspec

from caesura.worker.errors import FatalError
from caesura.worker.settings.catalogue import Leaf, leaves

PREFIX = "CAESURA_"
CONFIG_VARIABLE = "CAESURA_CONFIG"
_Tree = TypeVar("_Tree")
_BRACKETED = re.compile(r"""\[[^][{}"',]+]""")  # [fd00::1]:6379; what is meant as JSON closes after quotes or commas


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A value as somebody gave it, and where: ``source`` is ``flag``, a variable's name or a file's."""

    value: object
    source: str


def gather(
    tree: type,
    *,
    environ: Mapping[str, str],
    file: Path | None,
    flags: Mapping[str, str],
    closed: Mapping[str, str],
) -> dict[str, Given]:
    """Return what was given for each path (``section.name``). Raises FatalError naming every unknown name at once."""
    known = {leaf.path: leaf for leaf in leaves(tree)}
    by_variable = {leaf.variable: path for path, leaf in known.items()}
    file = file or (Path(environ[CONFIG_VARIABLE]) if environ.get(CONFIG_VARIABLE) else None)
    given: dict[str, Given] = {}
    problems: list[str] = []
    if file is not None:
        for path, value in _file_values(file):
            if path in known:
                given[path] = Given(value=value, source=str(file))
            else:
                problems.append(f"{file}: there is no setting {path!r}{meant(path, known)}")
    for variable, text in sorted(environ.items()):
        if variable in by_variable:
            given[by_variable[variable]] = Given(value=text, source=variable)
        elif variable.startswith(PREFIX) and variable != CONFIG_VARIABLE:
            problems.append(f"there is no setting {variable}{meant(variable, [*by_variable, CONFIG_VARIABLE])}")
    for path, text in flags.items():
        if path in known:
            given[path] = Given(value=text, source=f"--set {path}")
        else:
            problems.append(f"--set: there is no setting {path!r}{meant(path, known)}")
    problems += [f"{given[path].source}: {path} cannot be set: {why}" for path, why in closed.items() if path in given]
    if problems:
        raise FatalError(*problems)
    return given


def build(tree: type[_Tree], given: Mapping[str, Given]) -> _Tree:
    """Make the tree from what was given, defaults for the rest. Raises FatalError naming all that does not fit."""
    values: dict[str, dict[str, object]] = {}
    problems: list[str] = []
    for leaf in leaves(tree):
        section = values.setdefault(leaf.section, {})
        if leaf.path in given:
            try:
                section[leaf.name] = _converted(leaf, given[leaf.path].value)
            except ValueError as error:  # msgspec's errors and JSON's are among them
                problems.append(_refusal(leaf, given[leaf.path], str(error)))
        elif leaf.required:
            problems.append(f"{leaf.path} has no default: set {leaf.variable}, or {leaf.path} in the file")
    if problems:
        raise FatalError(*problems)
    sections: dict[str, object] = {}
    for name, section_type in get_type_hints(tree).items():
        try:
            sections[name] = section_type(**values.get(name, {}))
        except (ValueError, FatalError) as error:
            problems.append(f"{name}: {error}")
    if problems:
        raise FatalError(*problems)
    try:
        return tree(**sections)
    except ValueError as error:
        raise FatalError(str(error)) from error


def meant(name: str, known: Iterable[str]) -> str:
    """Return ``; did you mean ...?`` where something known is close, else nothing."""
    known = list(known)
    field = _field(name)
    fields = difflib.get_close_matches(field, map(_field, known), n=1, cutoff=0.7)
    close = [path for path in known if _field(path) in fields]  # perhaps in another section, or given without one
    if close:
        close = difflib.get_close_matches(name, close, n=1, cutoff=0.9) or close
    else:  # a long section alone makes names look alike, so the fields must be a little alike as well
        alike = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
        close = [path for path in alike if difflib.get_close_matches(field, [_field(path)], cutoff=0.5)]
    return f"; did you mean {' or '.join(close)}?" if close else ""


def _field(name: str) -> str:
    """Return a setting's name without its section: of ``worker.ordinal`` and of ``CAESURA_WORKER_ORDINAL``."""
    if name.startswith(PREFIX):
        return name.removeprefix(PREFIX).partition("_")[2] or name
    return name.rpartition(".")[2]


def _file_values(file: Path) -> Iterator[tuple[str, object]]:
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise FatalError(f"the settings file {file} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FatalError(f"the settings file {file} is not TOML: {error}") from error
    for section, fields in document.items():
        if not isinstance(fields, dict):
            yield section, fields
            continue
        for name, value in fields.items():
            yield f"{section}.{name}", value


def _converted(leaf: Leaf, value: object) -> object:
    """Convert a value to the setting's type; text may be a list or names with values, as JSON too, or a plain word."""
    if isinstance(value, str):
        value = _parsed(leaf, _one_line_break_less(value) if leaf.secret else value.strip())
    return msgspec.convert(value, leaf.type, strict=False)


def _one_line_break_less(text: str) -> str:
    """Take off what the file ends with that a secret was made of; blanks may be part of the secret."""
    return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text


def _parsed(leaf: Leaf, text: str) -> object:
    if not leaf.is_list and not leaf.is_mapping:
        return None if not text and leaf.is_optional else text
    if text.startswith("[" if leaf.is_list else "{"):
        try:
            return json.loads(text)
        except ValueError as error:
            if not _BRACKETED.match(text):
                raise ValueError(f"it is no JSON: {error}") from error
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if leaf.is_mapping:
        if not all("=" in part for part in parts):
            raise ValueError("it is written name=value,name=value")
        return dict(part.split("=", 1) for part in parts)
    parse = getattr(leaf.item_type, "parse", None)
    return [msgspec.to_builtins(parse(part)) for part in parts] if parse else parts


def _refusal(leaf: Leaf, given: Given, reason: str) -> str:
    # Values of foreign options may be secrets, and before an @ stands who one is.
    told = "" if leaf.secret or leaf.is_mapping or "@" in str(given.value) else f" {given.value!r}"
    why = reason.partition(" - at `$")[0]
    allowed = f" (allowed: {leaf.bounds})" if leaf.bounds else ""
    return f"{given.source}:{told} does not fit: {why}{allowed}. {leaf.description}".rstrip()
