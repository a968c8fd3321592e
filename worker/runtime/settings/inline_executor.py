"""Calls that are run where they are submitted: for tests, and where nothing is to run beside the loop."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import ParamSpec, TypeVar

from typing_extensions import override

__all__ = ["InlineExecutor"]

_P = ParamSpec("_P")
_Answer = TypeVar("_Answer")


class InlineExecutor(Executor):
    """Runs each call at once, in the caller's thread."""

    @override
    def submit(self, fn: Callable[_P, _Answer], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_Answer]:
        done: Future[_Answer] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - it is raised where the answer is asked for
            done.set_exception(error)
        return done
