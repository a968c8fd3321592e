"""Our side: the engine and the core, given the same text as FunASR's side, its labels decided by the same look-up."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench.funasr.same_text import COMMA, NONE, PERIOD, WEIGHT
from caesura.schemas.events import Word, WordsEvent
from caesura.schemas.labels import Labels
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.decoding.context import DecodingContext, Origin
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.language.rules import DecodingRules, ModelTable
from caesura.worker.core.language.words import whitespace_segmenters
from caesura.worker.core.session.session import Session

_LABELS = 3  # of a word: mark, tag and capital, each a head
_MARK = {NONE: 0, COMMA: 1, PERIOD: 2}

Delivery = list[dict[int, WordsEvent]]
"""By turn, the event of each session that says something."""


class DecidedEngine:
    """Our engine, to whose scores a number by the word is added."""

    def __init__(self, models: Path, decided: dict[str, int]) -> None:
        self.engine = OnnxEngine(models, threads=1)
        marks = len(_MARK) + 1
        self._added = np.eye(marks, dtype=np.float32) * np.float32(WEIGHT)
        self._mark = {word: _MARK[label] for word, label in decided.items()}

    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        """Label each request."""
        scored = self.engine.score(requests)
        for request, scores in zip(requests, scored, strict=True):
            added = self._added[[self._mark[request.words[place]] for place in request.wanted]]
            for marks in (scores[0], *scores[_LABELS:]):  # and those of a word that none follows
                marks[:] += added
        return self.engine.labels(requests, scored)


def delivered(texts: Sequence[Sequence[str]], a_time: int) -> Delivery:
    """Return events of so many words of each text at a time."""
    return [
        {
            number: WordsEvent(
                version="1.0",
                session=f"s-{number}-{a_time}",
                seq=seq,
                lang="en",
                words=tuple(Word(text=one) for one in text[start : start + a_time]),
            )
            for number, text in enumerate(texts)
            if start < len(text)
        }
        for seq, start in enumerate(range(0, max(map(len, texts)), a_time))
    ]


def decoded(engine: DecidedEngine, texts: Sequence[Sequence[str]], a_time: int) -> tuple[float, list[list[int]]]:
    """Decode sessions together, so many words of each at a time; return CPU seconds, and their segments' lengths."""
    context = DecodingContext(
        topic="bench",
        partition=0,
        rules=DecodingRules(),
        models=ModelTable.of(engine.engine.models),
        segmenters=whitespace_segmenters,
    )
    events = delivered(texts, a_time)
    began_s = time.process_time()
    lengths = _decode(engine, context, events)
    spent_s = time.process_time() - began_s
    for event in events[0].values():
        engine.engine.forget(event.session)
    return spent_s, lengths


def _decode(engine: DecidedEngine, context: DecodingContext, delivery: Delivery) -> list[list[int]]:
    sessions: dict[int, Session] = {}
    lengths: list[list[int]] = [[] for _ in delivery[0]]
    for offset, events in enumerate(delivery):
        origin = Origin(offset=offset, appended_ms=0, polled_ms=0, time_ms=0)
        for number, event in events.items():
            if number not in sessions:
                sessions[number] = Session.open(event, origin, context)
            sessions[number].offer(event, origin)
        asking = [sessions[number] for number in events]
        while waiting := [(session, request) for session in asking if (request := session.request(0)) is not None]:
            asking = [session for session, _ in waiting]
            for session, labels in zip(asking, engine.label([request for _, request in waiting]), strict=True):
                session.resolve(labels, 0)
        for number in events:
            lengths[number] += [len(out.segment.words) for out in sessions[number].take_segments()]
    return lengths
