"""An observer that keeps what it hears of one kind of event."""

from __future__ import annotations

from typing import Generic, TypeVar

from caesura.worker.ports.observer import Event, SilentObserver

__all__ = ["Heard"]

Kind = TypeVar("Kind", bound=Event)


class Heard(SilentObserver, Generic[Kind]):
    """events: of the one kind, in the order in which they came."""

    def __init__(self, kind: type[Kind]) -> None:
        self._kind = kind
        self.events: list[Kind] = []

    def note(self, event: Event) -> None:
        if isinstance(event, self._kind):
            self.events.append(event)
