"""The fate of the words that a command sent: published, refused (with the reason), or still open. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from caesura.schemas.events import WordsEvent
from caesura.schemas.segments import Segment


@dataclass(slots=True)
class _Fate:
    """One session's. first_offset: of the first record that was sent; None: the broker has not told it."""

    sent: int = 0
    published: int = 0
    refused: int = 0
    ends: bool = False
    ended: bool = False
    first_offset: int | None = None
    early: list[Segment] = field(default_factory=list)

    @property
    def is_known(self) -> bool:
        """Whether nothing more is to come: all words are accounted for, or the session has ended."""
        accounted = self.published + self.refused >= self.sent
        return self.ended or (accounted and not self.ends)


class WordFates:
    """Counts by session; one that was there before counts from the first record that was sent on.

    A word that came out in pieces is one word.
    """

    def __init__(self) -> None:
        self._fates: dict[str, _Fate] = {}
        self.reasons: Counter[str] = Counter()

    @property
    def sessions(self) -> list[str]:
        """The sessions that were sent to, in order."""
        return list(self._fates)

    @property
    def is_known(self) -> bool:
        """Whether all is known."""
        return all(fate.is_known for fate in self._fates.values())

    @property
    def published(self) -> int:
        """How many words were published."""
        return sum(min(fate.published, fate.sent) for fate in self._fates.values())

    @property
    def refused(self) -> int:
        """How many words were refused."""
        return sum(fate.refused for fate in self._fates.values())

    @property
    def missing(self) -> int:
        """How many words are neither."""
        return sum(max(0, fate.sent - fate.published - fate.refused) for fate in self._fates.values())

    def sending(self, event: WordsEvent) -> None:
        """Take note of an event that is about to be sent."""
        fate = self._fates.setdefault(event.session, _Fate())
        fate.sent += len(event.words)
        fate.ends = fate.ends or event.session_end

    def taken(self, session: str, offset: int) -> None:
        """Take note of the offset at which the broker took a session's record."""
        fate = self._fates.get(session)
        if fate is not None and fate.first_offset is None:
            fate.first_offset = offset
            for segment in fate.early:
                self._count(fate, segment, offset)
            fate.early.clear()

    def publish(self, segment: Segment) -> bool:
        """Take note of a published segment; tell whether it is of a session that was sent to."""
        fate = self._fates.get(segment.session)
        if fate is None:
            return False
        if fate.first_offset is None:
            fate.early.append(segment)
        else:
            self._count(fate, segment, fate.first_offset)
        return True

    def refuse(self, event: WordsEvent, offset: int, reason: str) -> bool:
        """Take note of a dead letter: the event, the offset that it had; tell whether it was sent here."""
        fate = self._fates.get(event.session)
        if fate is None or (fate.first_offset is not None and offset < fate.first_offset):
            return False
        self.reasons[reason] += len(event.words)
        fate.refused += len(event.words)
        if event.session_end:
            fate.ends = False  # it ends nothing
        return True

    def told(self) -> str:
        """Return the counts for people."""
        by_reason = ", ".join(f"{count} {reason}" for reason, count in self.reasons.most_common())
        parts = [f"{self.published} words published"]
        parts += [f"{self.refused} refused ({by_reason})"] if self.reasons else ["none refused"]
        parts += [f"{self.missing} neither so far"] if self.missing else []
        return ", ".join(parts)

    @staticmethod
    def _count(fate: _Fate, segment: Segment, first_offset: int) -> None:
        if segment.source.last_offset < first_offset:
            return
        fate.published += sum(word.piece is None or word.piece.start == 0 for word in segment.words)
        fate.ended = fate.ended or segment.session_end
