"""An executor without threads: it runs calls where they are submitted, or where a test says so."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import ParamSpec, TypeVar

from typing_extensions import override

_P = ParamSpec("_P")
_Answer = TypeVar("_Answer")


class DeferredExecutor(Executor):
    """Keeps calls while it is deferring, until they are run; else it runs each one at once."""

    def __init__(self, *, is_deferring: bool = True) -> None:
        self.is_deferring = is_deferring
        self.waiting: list[Callable[[], None]] = []

    @override
    def submit(self, fn: Callable[_P, _Answer], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_Answer]:
        done: Future[_Answer] = Future()

        def run() -> None:
            try:
                done.set_result(fn(*args, **kwargs))
            except Exception as error:  # noqa: BLE001 - it is raised where the answer is asked for
                done.set_exception(error)

        if self.is_deferring:
            self.waiting.append(run)
        else:
            run()
        return done

    def run_all(self) -> None:
        """Run what waits."""
        waiting, self.waiting = self.waiting, []
        for run in waiting:
            run()
