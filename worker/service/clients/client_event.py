"""A word event as a client sent it, before it has its place in a session."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from caesura.schemas.events import SessionOptions, WordsEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientEvent:
    """A client's event. ``numbered``: by the client; otherwise the session's last number decides."""

    event: WordsEvent
    numbered: bool = False

    def behind(self, last: WordsEvent | None, options: SessionOptions | None) -> WordsEvent:
        """Return it as it goes to its session. last: what went there before; None: it begins the session.

        options: of a session whose first event names none.
        """
        event = self.event
        if not self.numbered:
            seq = last.seq + 1 if last is not None and last.epoch == event.epoch else 0
            event = msgspec.structs.replace(event, seq=seq)
        if last is None and event.options is None:
            event = msgspec.structs.replace(event, options=options)
        return event
