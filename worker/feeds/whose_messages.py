"""Whether messages are those of the recogniser that was named: else a wrong name reads them all and finds no word."""

from __future__ import annotations

from caesura.worker.feeds.message_fields import Message
from caesura.worker.feeds.recognisers.catalogue import RECOGNISERS, RecogniserName, recogniser_of

__all__ = ["WhoseMessages"]


class WhoseMessages:
    """Looks at messages as they go by."""

    def __init__(self, name: RecogniserName) -> None:
        self._name = name
        self._own = False
        self._count = 0
        self._others: dict[RecogniserName, None] = {}

    def look(self, message: Message) -> Message:
        """Return the message, looked at; one whose text is empty is silence, whoever's, and says nothing."""
        self._count += message.get("text") != ""
        self._own = self._own or RECOGNISERS[self._name].recognises(message)
        if not self._own and (other := recogniser_of(message)) is not None:
            self._others[other] = None
        return message

    def doubt(self, words: int) -> str | None:
        """Return what is to be said where messages came, none was the named recogniser's, and no word came of them."""
        if words or self._own or not self._count:
            return None
        told = f"no word came, and no message is one of {self._name.value}'s"
        names = [one.value for one in self._others]
        return f"{told}: they look like {' or '.join(names)}'s" if names else f"{told}, nor of anyone known here"
