"""How many fillers and repairs each session has: a figure for speakers. No word is shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from caesura.schemas.segments import Segment
from caesura.worker.escaping import escaped


@dataclass(slots=True)
class _Session:
    """What a session's segments hold. spoken_ms: from its first word to its last, where times are known."""

    words: int = 0
    fillers: int = 0
    repairs: int = 0
    taken_back: int = 0
    first_ms: int | None = None
    last_ms: int = 0


class DisfluencyCounts:
    """Counts by session. A filler or a repair is one run of labelled words, however many."""

    def __init__(self) -> None:
        self._sessions: dict[str, _Session] = {}

    def take(self, segment: Segment) -> None:
        """Count a segment."""
        one = self._sessions.setdefault(segment.session, _Session())
        for word in segment.words:
            one.words += 1
            one.fillers += word.disfluency == "B-IM"
            one.repairs += word.disfluency == "B-RM"
            one.taken_back += word.disfluency.endswith("RM")
            if word.start_ms is not None:
                one.first_ms = word.start_ms if one.first_ms is None else one.first_ms
                one.last_ms = max(one.last_ms, word.end_ms or word.start_ms)

    def lines(self) -> Iterator[str]:
        """Yield a head and a line a session."""
        yield f"{'session':32}{'words':>8}{'fillers':>9}{'a minute':>10}{'repairs':>9}{'words taken back':>18}"
        for name, one in self._sessions.items():
            spoken_ms = one.last_ms - (one.first_ms or 0)
            rate = f"{one.fillers * 60_000 / spoken_ms:.1f}" if spoken_ms > 0 else "-"
            yield f"{escaped(name):32}{one.words:>8}{one.fillers:>9}{rate:>10}{one.repairs:>9}{one.taken_back:>18}"
