"""Catches exceptions of our own code at the place where their partition is known."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from caesura.schemas.errors import NewerVersionError
from caesura.worker.errors import CaesuraError, OwnFaultError

_P = ParamSpec("_P")
_Answer = TypeVar("_Answer")


def blamed(partition: int, call: Callable[_P, _Answer], /, *args: _P.args, **kwargs: _P.kwargs) -> _Answer:
    """Call something that works on one partition. OwnFaultError if it raises an unexpected exception.

    A MemoryError ends the process, because another call may have filled the memory.
    """
    try:
        return call(*args, **kwargs)
    except (CaesuraError, NewerVersionError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it must cost no other partition anything
        raise OwnFaultError(where_raised(error), partition=partition) from None


def where_raised(error: Exception) -> str:
    """Return the exception's name and the line that raised it; its text may hold a word."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}"
