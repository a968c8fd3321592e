"""What a step of training reads next, made while the one before it runs.

To draw the samples of tens of millions of words takes seconds, in which a GPU would stand still at each epoch's start.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from queue import Queue
from typing import TypeVar

__all__ = ["made_ahead"]

_T = TypeVar("_T")


def made_ahead(items: Iterable[_T], most: int) -> Iterator[_T]:
    """Yield ``items``, at most ``most`` of which a thread of its own has made before they are asked for.

    What making them raises is raised here. The thread ends with the process, or where ``items`` end.
    """
    made: Queue[tuple[_T] | BaseException | None] = Queue(most)  # None: that was all

    def make() -> None:
        try:
            for item in items:
                made.put((item,))
        except BaseException as error:  # noqa: BLE001 - raised where the items are read
            made.put(error)
        else:
            made.put(None)

    threading.Thread(target=make, daemon=True, name="samples").start()
    while (told := made.get()) is not None:
        if isinstance(told, BaseException):
            raise told
        yield told[0]
