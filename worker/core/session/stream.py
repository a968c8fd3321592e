"""Decoding for users of the library: words in, frozen segments out, for one session, without broker or store.

    from caesura.worker.core.session.stream import StreamingLabeller

    labeller = StreamingLabeller(engine, "en")
    for word in microphone_words():
        for segment in labeller.add([word]):
            print(*(word.text for word in segment.words))
    for segment in labeller.end():
        print(*(word.text for word in segment.words))

An engine is anything that labels (``caesura.worker.ports.engine.Engine``); ``rendering`` makes text from a segment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from caesura.schemas.events import SessionOptions, Word, WordsEvent
from caesura.schemas.labels import Labels
from caesura.schemas.segments import Segment
from caesura.schemas.versions import EVENT_VERSION
from caesura.worker.core.decoding.context import DecodingContext, Origin
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.language.rules import DecodingRules, ModelTable, ServedModel
from caesura.worker.core.language.words import SegmenterFactory, whitespace_segmenters
from caesura.worker.core.session.session import Session


class LabelSource(Protocol):
    """A source of labels: the part of ``caesura.worker.ports.engine.Engine`` that a stream needs."""

    @property
    def models(self) -> Sequence[ServedModel]:
        """The models loaded."""
        ...

    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        """Label each request, in their order."""
        ...


class StreamingLabeller:
    """One session, decoded as the worker decodes it: the same words give the same segments.

    lang: a BCP-47 tag; without a model for it the words come out unlabelled. It has no clock: the caller notices
    silence and calls ``pause``. looks_ahead: see ``context``.
    """

    def __init__(
        self,
        engine: LabelSource,
        lang: str,
        rules: DecodingRules | None = None,
        *,
        options: SessionOptions | None = None,
        segmenters: SegmenterFactory = whitespace_segmenters,
        session: str = "stream",
        looks_ahead: bool = False,
    ) -> None:
        self._engine = engine
        self._lang = lang
        self._name = session
        self._seq = 0
        self._options = options
        models = ModelTable.of(engine.models)
        self._context = DecodingContext(
            topic="",
            partition=0,
            rules=rules or DecodingRules(),
            models=models,
            segmenters=segmenters,
            looks_ahead=looks_ahead,
        )
        self._session: Session | None = None

    def add(self, words: Iterable[str | Word]) -> list[Segment]:
        """Add any number of words, and return the segments that froze. ValueError after ``end``."""
        taken = tuple(Word(text=word) if isinstance(word, str) else word for word in words)
        return self._apply(words=taken)

    def pause(self) -> list[Segment]:
        """Freeze all words so far, as at the end of an utterance; later words still see them as context."""
        return self._apply(utterance_end=True)

    def end(self) -> list[Segment]:
        """Freeze all words so far and end; the last segment says so, perhaps without words."""
        return self._apply(session_end=True)

    def _apply(
        self, *, words: tuple[Word, ...] = (), utterance_end: bool = False, session_end: bool = False
    ) -> list[Segment]:
        event = WordsEvent(
            version=EVENT_VERSION,
            session=self._name,
            seq=self._seq,
            lang=self._lang,
            words=words,
            utterance_end=utterance_end,
            session_end=session_end,
            options=self._options,
        )
        origin = Origin(offset=self._seq, appended_ms=0, polled_ms=0, time_ms=0)
        if self._session is None:
            self._session = Session.open(event, origin, self._context)
        admission = self._session.offer(event, origin)
        if admission.reason is not None:
            raise ValueError(f"the stream has ended ({admission.reason})")
        self._seq += 1
        while (request := self._session.request(0)) is not None:
            self._session.resolve(self._engine.label([request])[0], 0)
        return [out.segment for out in self._session.take_segments()]
