"""Hypothesis strategies: what a session says, and how a recogniser may cut it into events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

from hypothesis import strategies as st

from caesura.schemas.events import Emission, SessionOptions, Word, WordsEvent
from caesura.worker.core.language.rules import Bounds, DecodingRules, OptionBounds
from tests.harness.partition_driver import EventFields, event

SILENCE_MS = 1_000

_TEXTS = [f"w{number}" for number in range(12)] + ["a-b", "c-", "-"]


@dataclass(frozen=True)
class Said:
    """One stretch of speech without a break, and what breaks it.

    ends_by: ``silence`` (time passes), ``utterance``, ``gap`` (an event is lost), or nothing.
    """

    words: tuple[str, ...]
    ends_by: str
    lang: str


words = st.lists(st.sampled_from(_TEXTS), min_size=1, max_size=40).map(tuple)
stretches = st.builds(
    Said,
    words=words,
    ends_by=st.sampled_from(["", "", "silence", "utterance", "gap"]),
    lang=st.sampled_from(["en", "en", "en", "zh", "xx"]),
)
speeches = st.lists(stretches, min_size=1, max_size=6)

rules = st.builds(
    DecodingRules,
    step_words=st.integers(1, 5),
    look_ahead_words=st.integers(0, 9),
    max_context_words=st.sampled_from((0, 0, 2, 12, 64)),
    context_words=st.sampled_from((0, 0, 1, 4, 12)),
    emission=st.sampled_from(Emission),
    min_settled_words=st.integers(1, 3),
    min_clause_words=st.integers(1, 3),
    max_clause_words=st.integers(3, 8),
    clause_look_ahead_words=st.integers(0, 6),
    max_buffer_words=st.integers(10, 40),
    bounds=st.just(OptionBounds(max_buffer_words=Bounds(least=10, most=300))),
    routes=st.just(frozenset({"de", "fr"})),
)
look_aheads = st.integers(0, 10)


@dataclass(frozen=True)
class Timed:
    """An event and how long after the last one it comes."""

    event: WordsEvent
    after_ms: int


@st.composite
def groupings(draw: st.DrawFn, speech: Sequence[Said]) -> list[Timed]:
    """Cut a speech into events in some way; lost events leave a hole of one number, whatever the cut.

    Numbers depend on the cut, so a gap is made by a new epoch: its hole is then the same in every cut.
    """
    given: list[Timed] = []
    seq, epoch, after_ms = 0, 0, 0
    for said in speech:
        rest = list(said.words)
        while rest:
            size = draw(st.integers(1, len(rest)))
            taken, rest = rest[:size], rest[size:]
            ends = said.ends_by == "utterance" and not rest and draw(st.booleans())
            one = _event(seq, taken, lang=said.lang, epoch=epoch, utterance_end=ends)
            given.append(Timed(one, after_ms))
            seq, after_ms = seq + 1, 0
        if said.ends_by == "utterance" and not given[-1].event.utterance_end:
            given.append(Timed(_event(seq, [], lang=said.lang, epoch=epoch, utterance_end=True), 0))
            seq += 1
        if draw(st.booleans()):
            given.append(Timed(_event(seq, [], lang=said.lang, epoch=epoch), 0))
            seq += 1
        if said.ends_by == "silence":
            after_ms = SILENCE_MS
        if said.ends_by == "gap":
            epoch, seq = epoch + 1, 2
    given.append(Timed(_event(seq, [], lang=speech[-1].lang, epoch=epoch, session_end=True), after_ms))
    return given


def _event(seq: int, taken: Sequence[str], **fields: Unpack[EventFields]) -> WordsEvent:
    said = [Word(text=text) for text in taken]
    fields["targets"], fields["options"] = ("de", "nowhere"), SessionOptions()
    return event(seq, said, **fields)
