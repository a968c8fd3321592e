"""Counts of decoding for telemetry, without session names. The runtime reads and resets them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields, replace

from caesura.schemas.segments import Cause


@dataclass(slots=True)
class DecodingCounts:
    """Counts since the last drain.

    segments: by cause. freeze_delay_words: model words that came after a word before it froze -> how many words.
    events, repeats: accepted, dropped by number. gaps, missed_events: gaps passed and the events in them.
    unknown_targets: events naming one. takeovers: buffers whose model was gone. unmodelled_words: of languages without
    a model. fallbacks: steps without an answer.
    opened, reopened, closed, forgotten: sessions; closed counts idle ones and ended ones.
    """

    segments: Counter[Cause] = field(default_factory=Counter)
    freeze_delay_words: Counter[int] = field(default_factory=Counter)
    events: int = 0
    repeats: int = 0
    gaps: int = 0
    missed_events: int = 0
    unknown_targets: int = 0
    takeovers: int = 0
    unmodelled_words: int = 0
    fallbacks: int = 0
    opened: int = 0
    reopened: int = 0
    closed: int = 0
    forgotten: int = 0

    def drain(self) -> DecodingCounts:
        """Return the counts so far, and begin again from nothing."""
        drained = replace(self)
        fresh = DecodingCounts()
        for counted in fields(self):
            setattr(self, counted.name, getattr(fresh, counted.name))
        return drained
