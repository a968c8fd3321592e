"""An event on its way from admission to decoding."""

from __future__ import annotations

import msgspec

from caesura.schemas.events import WordsEvent
from caesura.worker.core.decoding.admission import PassedGap
from caesura.worker.core.decoding.context import Origin


class AppliedEvent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An admitted event. has_audio_clock: whether the session's silence is counted on its audio clock, from it on.

    restarted: it is the first of a new run of the producer, which may have lost its audio clock with its count.
    closed: the session is closed and stays so, since the event has no words.
    """

    event: WordsEvent
    origin: Origin
    gap: PassedGap | None
    has_audio_clock: bool
    restarted: bool
    closed: bool
