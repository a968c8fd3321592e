"""Asks a model for labels of a session's buffer; ``decoding`` decides when, and for which words.

A buffer keeps its model until its start has moved, so it never has labels of two models.
"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from caesura.schemas.labels import Labels
from caesura.worker.core.decoding.buffer import Buffer
from caesura.worker.core.decoding.context import DecodingContext
from caesura.worker.core.decoding.corrections import pieces_among, take_back_pieces
from caesura.worker.core.decoding.cut_sentences import join_cut_sentences
from caesura.worker.core.decoding.european_guard import keep_european_numbers_whole
from caesura.worker.core.decoding.european_repairs import tag_european_repairs
from caesura.worker.core.decoding.kept_numbers import marks_around_numbers
from caesura.worker.core.decoding.kept_words import join_answers, may_answer
from caesura.worker.core.decoding.tag_questions import mark_tag_questions
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.language.rules import primary_language
from caesura.worker.core.numbers.european_numbers import EUROPEAN


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvisionalLabels:
    """What one labelling said of a buffer from a word on to its end.

    start, first, end: the session's counts of model words before the buffer, the first labelled word, and its end as of
    that labelling. model: what labelled it.
    """

    model: str | None
    start: int
    first: int
    end: int
    labels: Labels

    def answer(self, buffer: Buffer, model: str | None, wanted: range) -> Labels | None:
        """Return the labels of the buffer's words ``wanted``, where the same buffer was labelled; else None."""
        here = (self.model, self.start, self.end) == (model, buffer.start, buffer.end)
        skipped = buffer.start + wanted.start - self.first
        return self.labels.part(skipped, skipped + len(wanted)) if here and skipped >= 0 else None

    def over(self, buffer: Buffer) -> Labels:
        """Return the labels of now of the buffer's words: these, and the buffer's own before them."""
        seam = max(self.first - buffer.start, buffer.frozen)
        return buffer.labels.continued(seam, self.labels.part(buffer.start + seam - self.first))


class BufferLabels:
    """model: what labels the buffer; None: nothing does. provisional_labels: labels that may change."""

    __slots__ = ("_buffer", "_context", "_session", "model", "provisional_labels")

    def __init__(self, context: DecodingContext, session: str, buffer: Buffer, model: str | None) -> None:
        self._context = context
        self._session = session
        self._buffer = buffer
        self.model = model
        self.provisional_labels: ProvisionalLabels | None = None

    @property
    def look_ahead(self) -> int:
        """Return L of the model that labels the buffer."""
        return self._context.models.look_ahead_of(self.model)

    @property
    def is_bound(self) -> bool:
        """Tell whether the buffer was labelled since its start moved, and so keeps its model."""
        return self.model is not None and self._buffer.was_labelled_from_start

    @property
    def is_served(self) -> bool:
        """Tell whether this worker has the model."""
        return self.model in self._context.models.loaded

    def choose(self, lang: str) -> None:
        """Take the model that is active for a language."""
        active = self._context.models.active.get(primary_language(lang))
        chosen = None if active is None else active.name
        if chosen != self.model:
            self._buffer.settled = 0  # labels of another model, or no labels: label again
        self.model = chosen

    def give_up(self) -> None:
        """Have no model: the one that was asked gave no answer."""
        self.model = self.provisional_labels = None

    def known(self, first: int, end: int) -> Labels | None:
        """Return the kept labels of the words from ``first`` to ``end``; None if they are not kept."""
        return (
            None
            if self.provisional_labels is None
            else self.provisional_labels.answer(self._buffer, self.model, range(first, end))
        )

    def request(self, first: int, end: int, *, sentence_end: float = 0.0) -> LabelRequest | None:
        """Return what to ask for the labels of the words from ``first`` to ``end``; None: nothing labels the buffer.

        sentence_end: the offset of the last word's sentence marks.
        """
        if self.model is None:
            return None
        rules = self._context.rules
        return LabelRequest(
            session=self._session,
            model_id=self.model,
            buffer_start=self._buffer.start,
            words=tuple(self._buffer.views),
            first=first,
            end=self._asked_end(end),
            offsets=rules.score_offsets(sentence_end),
            probabilities=rules.probabilities,
        )

    def take(self, answer: Labels | None, first: int, end: int, *, punctuation: bool, lang: str) -> Labels | None:
        """Return the labels of the words from ``first`` to ``end``; where it looks ahead, keep those behind apart.

        answer: to ``request``, where it asked; None where there is none, so None is returned. punctuation: whether
        marks are wished for.
        """
        asked_end = self._asked_end(end)
        if self.model is None:
            labels: Labels | None = Labels.none(asked_end - first)
        elif answer is not None and not punctuation:
            labels = replace(
                Labels.none(asked_end - first),
                disfluency=answer.disfluency,
                disfluency_probability=answer.disfluency_probability,
                turn_end=answer.turn_end,
            )
        else:
            labels = answer
        if labels is not None and self.model is not None:
            labels = self._with_repairs(labels, first, lang)
        if labels is not None and punctuation and self.model is not None:
            labels = self._with_whole_phrases(labels, first, lang)
        if labels is None or not self._context.looks_ahead:
            return labels
        start = self._buffer.start
        self.provisional_labels = ProvisionalLabels(
            model=self.model, start=start, first=start + first, end=self._buffer.end, labels=labels
        )
        return labels.part(0, end - first)

    def _with_repairs(self, labels: Labels, first: int, lang: str) -> Labels:
        """Return the labels with the tags that rules add."""
        views, end, language = self._buffer.views, first + len(labels), primary_language(lang)
        if language not in EUROPEAN and not pieces_among(views, first, end):
            return labels
        known = self._buffer.labels.disfluency[:first] or bytes(first)
        before = labels.disfluency or bytes(len(labels))
        tags = bytearray(known + before)
        if language in EUROPEAN:
            marks = (self._buffer.labels.punctuation[:first] or bytes(first)) + (
                labels.punctuation or bytes(len(labels))
            )
            tag_european_repairs(views, tags, marks, first, language)
        else:
            take_back_pieces(views, tags, first)
        return labels if tags[first:] == before else replace(labels, disfluency=before).with_tags(bytes(tags[first:]))

    def _with_whole_phrases(self, labels: Labels, first: int, lang: str) -> Labels:
        views, digit_commas = self._buffer.views, self._context.rules.digit_commas
        if not (any(labels.punctuation) or may_answer(views[first : first + len(labels)])):
            return labels  # only an answer takes a mark where the model set none
        marks = bytearray(self._buffer.labels.punctuation[:first] + labels.punctuation)
        if (language := primary_language(lang)) in EUROPEAN:
            keep_european_numbers_whole(views, marks, first, language, digit_commas=digit_commas)
        else:
            marks_around_numbers(views, marks, first, look_ahead_words=self.look_ahead, digit_commas=digit_commas)
            join_answers(views, marks, first)
            mark_tag_questions(views, marks, first)
            join_cut_sentences(views, marks, first)
        return labels.with_marks(bytes(marks[first:]))

    def _asked_end(self, end: int) -> int:
        return len(self._buffer) if self._context.looks_ahead else end
