"""Long texts through an engine: as streams, the way the worker decodes them, or offline in overlapping windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from caesura.models.data.recogniser_units import as_units
from caesura.models.decoding.overlapping_chunks import Cut, label_chunks
from caesura.schemas.events import Word, WordsEvent
from caesura.schemas.labels import Disfluency, Punctuation
from caesura.schemas.segments import Segment, SegmentWord
from caesura.schemas.state import HeldBack
from caesura.worker.core.decoding.context import DecodingContext, Origin
from caesura.worker.core.language.rules import DecodingRules, ModelTable
from caesura.worker.core.language.segmentation import segmenters
from caesura.worker.core.session.session import Session
from caesura.worker.ports.engine import Engine

_EVENT_WORDS = 30
MARK_NUMBERS = {mark.published: int(mark) for mark in Punctuation}
TAG_NUMBERS = {tag.published: int(tag) for tag in Disfluency}

Labelled = tuple[list[int], list[int]]
"""A text's marks and tags, one of each a word."""

Progress = Callable[[int], None]
"""Told how many words are done since the last call."""


def label_streams(
    engine: Engine,
    texts: Sequence[Sequence[str]],
    *,
    language: str | Sequence[str],
    rules: DecodingRules | None = None,
    session_end: bool = True,
    progress: Progress = lambda _: None,
) -> list[Labelled]:
    """Return the frozen marks and tags of each text; see ``published_words``."""
    published = published_words(
        engine, texts, language=language, rules=rules, session_end=session_end, progress=progress
    )
    return [
        ([MARK_NUMBERS[word.punctuation] for word in words], [TAG_NUMBERS[word.disfluency] for word in words])
        for words in published
    ]


def published_words(
    engine: Engine,
    texts: Sequence[Sequence[str]],
    *,
    language: str | Sequence[str],
    rules: DecodingRules | None = None,
    session_end: bool = True,
    progress: Progress = lambda _: None,
) -> list[list[SegmentWord]]:
    """Return each text's words as published; see ``published_segments``."""
    published = published_segments(
        engine, texts, language=language, rules=rules, session_end=session_end, progress=progress
    )
    return [[word for segment in segments for word in segment.words] for segments in published]


def published_segments(
    engine: Engine,
    texts: Sequence[Sequence[str]],
    *,
    language: str | Sequence[str],
    rules: DecodingRules | None = None,
    session_end: bool = True,
    progress: Progress = lambda _: None,
) -> list[list[Segment]]:
    """Return each text's segments, decoded as one session through ``core``, all sessions at once.

    language: of all texts, or one each. session_end: whether each session ends with its text, or an utterance alone.
    """
    languages = [language] * len(texts) if isinstance(language, str) else language
    context = DecodingContext(
        topic="evaluation",
        partition=0,
        rules=rules or DecodingRules(),
        models=ModelTable.of(engine.models),
        segmenters=segmenters,
    )
    sessions = [
        _opened(context, number, words, spoken, session_end=session_end)
        for number, (words, spoken) in enumerate(zip(texts, languages, strict=True))
    ]
    published: list[list[Segment]] = [[] for _ in texts]
    running = list(range(len(texts)))
    while running:
        requests = [(number, sessions[number].request(0)) for number in running]
        for number in running:
            segments = [written.segment for written in sessions[number].take_segments()]
            published[number] += segments
            progress(sum(len(segment.words) for segment in segments))
        waiting = [(number, request) for number, request in requests if request is not None]
        answers = engine.label([request for _, request in waiting])
        for (number, _), labels in zip(waiting, answers, strict=True):
            sessions[number].resolve(labels, 0)
        running = [number for number, _ in waiting]
    for said, segments in zip(texts, published, strict=True):
        if len(said) != (came := sum(len(segment.words) for segment in segments)):
            raise ValueError(f"{len(said)} words went in, {came} came out")
    return published


def _opened(
    context: DecodingContext, number: int, words: Sequence[str], language: str, *, session_end: bool
) -> Session:
    session: Session | None = None
    cuts = range(0, max(len(words), 1), _EVENT_WORDS)
    for seq, start in enumerate(cuts):
        event = WordsEvent(
            version="1.0",
            session=f"text-{number}",
            seq=seq,
            lang=language,
            words=tuple(Word(text=word) for word in words[start : start + _EVENT_WORDS]),
            session_end=session_end and seq == len(cuts) - 1,
            utterance_end=not session_end and seq == len(cuts) - 1,
        )
        origin = Origin(offset=seq, appended_ms=0, polled_ms=0, time_ms=0)
        session = session or Session.open(event, origin, context)
        session.offer(event, origin)
    assert session is not None, "even an empty text is one event"
    return session


def label_offline(
    engine: Engine,
    model_id: str,
    words: Sequence[str],
    *,
    language: str = "en",
    cut: Cut,
    progress: Progress = lambda _: None,
) -> Labelled:
    """Return the labels of one text cut into chunks (``ways``).

    words: the recogniser's, one label pair each. They are cut into the model's words as the worker cuts them; of
    several that make one model word the last has its mark, and each its tag.
    """
    segmenter = segmenters(language, HeldBack())
    units = [*segmenter.push(as_units(words)), *segmenter.flush()]
    labelled = label_chunks(engine, model_id, [word.view for word in units], cut=cut, progress=progress)
    marks, tags = [0] * len(words), [0] * len(words)
    for word, mark, tag in zip(units, labelled.marks, labelled.tags, strict=True):
        marks[word.pieces[-1].position] = mark
        for piece in word.pieces:
            tags[piece.position] = tag
    return marks, tags
