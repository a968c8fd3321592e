"""A server that all processes of a test run share: the first process that needs it starts it, and ends it last."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from io import TextIOWrapper
from pathlib import Path

from tests.harness.waiting import comes

_OTHERS_END_WITHIN_S = 1_800.0


@contextmanager
def shared(folder: Path, name: str, start: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    """Yield what ``start`` yielded, such as an address, in the process that started the server.

    folder: one that the processes of this run share, and no other run. At the end of the block the process that
    started the server waits until the others have left theirs.
    """
    with ExitStack() as started, (folder / name).open("a+") as users:
        with _locked(folder):
            users.seek(0)
            told = users.read()
            starts = not told
            if starts:
                told = started.enter_context(start())
                users.write(told)
                users.flush()
            fcntl.flock(users, fcntl.LOCK_SH)
        yield told
        if starts:
            comes(lambda: _taken_back(folder, users), within_s=_OTHERS_END_WITHIN_S)


def _taken_back(folder: Path, users: TextIOWrapper) -> bool:
    """Remove what was told, unless another process uses the server: a later one starts another."""
    with _locked(folder):
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        users.truncate(0)
        return True


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / "starting.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
