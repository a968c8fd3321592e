"""A blocking call that runs beside the loop. A later turn takes its answer."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Generic, TypeVar

_Answer = TypeVar("_Answer")


class Question(Generic[_Answer]):
    """Runs at most one call at a time. The call must not touch anything that the loop changes."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._call: Future[_Answer] | None = None

    @property
    def is_free(self) -> bool:
        """Tell whether the last answer was taken."""
        return self._call is None

    def ask(self, call: Callable[[], _Answer]) -> None:
        """Begin a call; does nothing if it is not free."""
        if self.is_free:
            self._call = self._executor.submit(call)

    def answer(self) -> _Answer | None:
        """Take the answer; None if there is none yet. Raises what the call raised. Does not block."""
        if self._call is None or not self._call.done():
            return None
        call, self._call = self._call, None
        return call.result()
