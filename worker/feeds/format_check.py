"""Checks that messages have the format of the named recogniser. Under a wrong name they would give no words."""

from __future__ import annotations

from caesura.worker.feeds.message_fields import Message
from caesura.worker.feeds.recognisers.catalogue import RECOGNISERS, RecogniserName, recogniser_of


class FormatCheck:
    """Compares each message with the known formats."""

    def __init__(self, name: RecogniserName) -> None:
        self._name = name
        self._own = False
        self._count = 0
        self._others: dict[RecogniserName, None] = {}

    def checked(self, message: Message) -> Message:
        """Return the message after the check. Messages with an empty text are silence and do not count."""
        self._count += message.get("text") != ""
        self._own = self._own or RECOGNISERS[self._name].recognises(message)
        if not self._own and (other := recogniser_of(message)) is not None:
            self._others[other] = None
        return message

    def warning(self, words: int) -> str | None:
        """Return a warning if no message matched the named recogniser and no words were produced."""
        if words or self._own or not self._count:
            return None
        told = f"no words, and no message has the format of {self._name.value}"
        names = [one.value for one in self._others]
        return f"{told}: they look like {' or '.join(names)}" if names else f"{told} or of another known recogniser"
