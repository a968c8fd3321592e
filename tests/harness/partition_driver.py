"""Builders and a driver for the tests of core: events, a partition labelled by a scripted engine, a toy segmenter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypedDict, Unpack

import msgspec

from caesura.schemas.events import SessionOptions, Word, WordsEvent
from caesura.schemas.segments import Segment, Source, Timing
from caesura.schemas.state import HeldBack, ModelWord, ModelWordPiece, SessionState, decode_state
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.core.decoding.admission import AdmissionDecision
from caesura.worker.core.decoding.context import DecodingContext, Origin
from caesura.worker.core.decoding.segment_writer import OutSegment
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.language.rules import DecodingRules, ModelTable
from caesura.worker.core.language.words import (
    SegmenterFactory,
    WordSegmenter,
    as_unit,
    cut_piece,
    whitespace_segmenters,
    whole_piece,
)
from caesura.worker.core.partition.partition import PartitionSessions

NOW_MS = 1_700_000_000_000
MARKED = ScriptedEngine(script=marked_words)
"""The engine that the words themselves tell what it has to say of them."""


class EventFields(TypedDict, total=False):
    """What an event of a test may say besides its number and words."""

    session: str
    lang: str
    epoch: int
    heard_until_ms: int
    utterance_end: bool
    session_end: bool
    targets: tuple[str, ...]
    options: SessionOptions
    configure: SessionOptions
    conversation: str
    speaker: str
    attributes: dict[str, str]


def event(seq: int, words: str | Sequence[Word] = (), **fields: Unpack[EventFields]) -> WordsEvent:
    """Make an event, in English and of session ``s`` unless said; words in one string are set apart by white space."""
    given = tuple(Word(text=text) for text in words.split()) if isinstance(words, str) else tuple(words)
    fields.setdefault("session", "s")
    fields.setdefault("lang", "en")
    return WordsEvent(version="1.0", seq=seq, words=given, **fields)


def numbered(count: int, start: int = 0) -> str:
    """Return so many words, none with a mark, told apart by their number."""
    return " ".join(f"n{number}" for number in range(start, start + count))


def timed(text: str, start_ms: int, end_ms: int) -> Word:
    """Make a word with its times."""
    return Word(text=text, start_ms=start_ms, end_ms=end_ms)


@dataclass
class Driver:
    """One partition's sessions, fed by hand and labelled by a scripted engine; keeps every segment and request.

    lazy: events are queued and labelled only when ``work`` is called. traced: each event has a trace context, its
    offset in digits. looks_ahead: see ``DecodingContext``.
    """

    rules: DecodingRules = field(default_factory=DecodingRules)
    engine: ScriptedEngine = field(default_factory=ScriptedEngine)
    segmenters: SegmenterFactory = whitespace_segmenters
    lazy: bool = False
    traced: bool = False
    looks_ahead: bool = False
    out: list[OutSegment] = field(default_factory=list)
    requests: list[LabelRequest] = field(default_factory=list)
    offset: int = 0
    time_ms: int = NOW_MS

    def __post_init__(self) -> None:
        self.context = DecodingContext(
            topic="asr.words",
            partition=3,
            rules=self.rules,
            models=ModelTable.of(self.engine.models),
            segmenters=self.segmenters,
            looks_ahead=self.looks_ahead,
        )
        self.sessions = PartitionSessions(self.context)

    @property
    def segments(self) -> list[Segment]:
        """Return the segments so far."""
        return [out.segment for out in self.out]

    def give(self, one: WordsEvent, *, after_ms: int = 0) -> AdmissionDecision:
        """Offer an event at the next offset, ``after_ms`` later than the last."""
        self.time_ms += after_ms
        origin = Origin(
            offset=self.offset,
            appended_ms=self.time_ms,
            polled_ms=self.time_ms + 5,
            time_ms=self.time_ms,
            trace=str(self.offset) if self.traced else "",
        )
        self.offset += 1
        admission = self.sessions.offer(one, origin)
        if not self.lazy:
            self.work()
        return admission

    def wait(self, ms: int) -> None:
        """Let partition time pass."""
        self.time_ms += ms
        self.sessions.tick(self.time_ms)
        if not self.lazy:
            self.work()

    def work(self) -> None:
        """Label until nothing is wanted, and keep what froze."""
        while pending := self.sessions.waiting(NOW_MS):
            requests = [one.request for one in pending]
            self.requests += requests
            for request, labels in zip(requests, self.engine.label(requests), strict=True):
                self.sessions.resolve(request.session, labels, NOW_MS)
        self.out += self.sessions.take_segments()

    def state(self, session: str = "s") -> SessionState:
        """Return a session's snapshot."""
        self.work()
        state = self.states([session])[session]
        assert state is not None
        return state

    def states(self, sessions: Iterable[str]) -> dict[str, SessionState | None]:
        """Return sessions' snapshots as a claim would read them, None for a tombstone. Nothing may be queued."""
        snapshots = self.sessions.snapshots(sessions)
        return {name: None if data is None else decode_state(data) for name, data in snapshots.items()}

    def restart(self, engine: ScriptedEngine | None = None) -> None:
        """Lose the process: sessions go through their stored form, whatever engine the next process has."""
        self.work()
        self.sessions.settle()
        names = [*self.sessions.names()]
        stored = [data for data in self.sessions.snapshots(names).values() if data is not None]
        self.engine = engine or self.engine
        self.__post_init__()
        for state in map(decode_state, stored):
            self.sessions.put_back(state.session, state)


def however_grouped(segments: Iterable[Segment]) -> list[Segment]:
    """Return segments without what depends on how words were grouped into records: offsets, times, known pauses."""
    source = Source(topic="", partition=0, first_offset=0, last_offset=0)
    timing = Timing(appended_ms=0, polled_ms=0, frozen_ms=0)
    return [msgspec.structs.replace(segment, source=source, timing=timing, pause=None) for segment in segments]


class PairSegmenter:
    """A toy that joins units: two units make a word, and a unit with a dash is cut there into two words.

    So words span units, units span words, and a tail is held back, as with Chinese.
    """

    def __init__(self, held: HeldBack) -> None:
        self._units = [whole_piece(unit) for unit in held.units]
        self._given = held.given_code_points

    @property
    def held(self) -> HeldBack:
        return HeldBack(units=tuple(as_unit(unit) for unit in self._units), given_code_points=self._given)

    def push(self, units: Sequence[ModelWordPiece]) -> list[ModelWord]:
        words: list[ModelWord] = []
        for unit in units:
            self._units.append(unit)
            if "-" in unit.text:
                cut = unit.text.index("-") + 1
                words += self._word(cut)
                if cut < len(unit.text):
                    self._units, self._given = [unit], cut
            elif len(self._units) > 1:
                words += self._word(len(unit.text))
        return words

    def flush(self) -> list[ModelWord]:
        return self._word(len(self._units[-1].text)) if self._units else []

    def _word(self, end: int) -> list[ModelWord]:
        last = len(self._units) - 1
        pieces = tuple(
            cut_piece(unit, self._given if place == 0 else 0, end if place == last else len(unit.text))
            for place, unit in enumerate(self._units)
        )
        self._units, self._given = [], 0
        return [ModelWord(view="".join(piece.text for piece in pieces), pieces=pieces)]


def pair_segmenters(language: str, held: HeldBack) -> WordSegmenter:
    """Return the toy for any language."""
    assert language
    return PairSegmenter(held)
