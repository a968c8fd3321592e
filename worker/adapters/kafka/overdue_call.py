"""Calls into a client library that may come back late, or never, whatever time-out they were given."""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["returns_within"]


def returns_within(timeout_s: float, call: Callable[[], object]) -> bool:
    """Run ``call`` in a thread of its own and raise what it raises; False where it is still running after the time.

    Then it runs on: whoever called must let go of all that it uses. The thread does not keep the process from ending.
    """
    raised: list[BaseException] = []

    def run() -> None:
        try:
            call()
        except BaseException as error:  # noqa: BLE001 - it is raised again, by whoever waits
            raised.append(error)

    thread = threading.Thread(target=run, name="overdue-call", daemon=True)
    thread.start()
    thread.join(timeout_s)
    if thread.is_alive():
        return False
    if raised:
        raise raised[0]
    return True
