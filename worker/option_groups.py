"""Commands that take settings objects: each field of a frozen dataclass in a command's signature becomes an option.

So options that belong together are passed on together, and each is defined once: the field has the type, help and
default that ``typer`` reads from a parameter.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command for ``typer`` with the fields of ``command``'s dataclasses as options, in their order.

    TypeError where two groups have a field of one name.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, type[Any]] = {
        name: hints[name] for name in inspect.signature(command).parameters if is_dataclass(hints[name])
    }
    options: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            options += _options(groups[name])
        else:
            options.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))
    if len({one.name for one in options}) < len(options):
        raise TypeError(f"{command.__name__}: two groups of options share a name")
    signature = inspect.Signature(options)

    def called(**given: object) -> None:
        made = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**made, **given)

    called.__name__, called.__doc__ = command.__name__, command.__doc__
    # What typer reads of a function, of which typeshed knows no signature of its own.
    called.__signature__ = signature  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in options}
    return called


def _options(group: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
