"""A session's buffer: model words since its last cut, left context before them, labels, number of frozen words.

Rules:

1. ``frozen`` falls only when words leave. A frozen label never changes: ``relabel`` takes no labels for it.
2. ``settled`` words have L or more words after them in the last labelling. While the buffer starts at the same word, no
   new word can change their labels, so they are not computed again.
3. Words leave only at the front, and only frozen ones.
4. Words up to the last one whose label was asked for have labels; words after it have none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Raw

from caesura.schemas.labels import COMMAS, NO_LABELS, Disfluency, Labels, Punctuation
from caesura.schemas.state import ModelWord, ModelWordPiece, encode_word, word_array
from caesura.worker.core.decoding.european_guard import guard_european_tags
from caesura.worker.core.decoding.kept_words import guard_tags
from caesura.worker.core.language.rules import primary_language
from caesura.worker.core.numbers.european_numbers import EUROPEAN

_SENTENCE_END = re.compile(b"[" + bytes(mark.value for mark in Punctuation if mark.ends_sentence) + b"]")
_INSIDE = frozenset((Disfluency.I_RM.value, Disfluency.I_IM.value))
_MARKS = frozenset(mark.value for mark in Punctuation if mark is not Punctuation.NONE)


class Buffer:
    """Words since the last cut after their left context; ``start`` is the session's count of model words before."""

    __slots__ = (
        "_encoded",
        "_lengths",
        "frozen",
        "labelled_start",
        "labels",
        "settled",
        "start",
        "views",
        "words",
    )

    def __init__(
        self,
        words: Sequence[ModelWord] = (),
        *,
        start: int = 0,
        labelled_start: int = -1,
        frozen: int = 0,
        settled: int = 0,
        labels: Labels = NO_LABELS,
    ) -> None:
        """Start with nothing, or with what was stored. labelled_start: ``start`` as of the last labelling."""
        self.words = list(words)
        self._encoded: list[bytes] = []
        self._lengths: list[int] = []
        self.views = [word.view for word in self.words]
        self.start = start
        self.labelled_start = labelled_start
        self.frozen = frozen
        self.settled = settled
        self.labels = labels

    def __len__(self) -> int:
        return len(self.words)

    @property
    def end(self) -> int:
        """Return the session's count of model words, those in the buffer included."""
        return self.start + len(self.words)

    @property
    def unfrozen(self) -> int:
        """Return how many words have no frozen label yet."""
        return len(self.words) - self.frozen

    @property
    def is_labelled(self) -> bool:
        """Tell whether the last labelling covers the last word, and was of this buffer."""
        return self.was_labelled_from_start and len(self.labels) == len(self.words)

    @property
    def was_labelled_from_start(self) -> bool:
        """Tell whether the buffer starts where it did at its last labelling."""
        return self.labelled_start == self.start

    @property
    def known(self) -> int:
        """Return how many of the first words have a label that will not change: where to ask from."""
        return self.settled if self.settled > self.frozen and self.was_labelled_from_start else self.frozen

    def append(self, word: ModelWord) -> int:
        """Add the next word, which has no label yet; return the session's count of model words with it."""
        self.words.append(word)
        self.views.append(word.view)
        return self.start + len(self.words)

    def relabel(self, labels: Labels, *, first: int, look_ahead_words: int) -> None:
        """Take the labels of the words from ``first`` on; those behind them have none then.

        ValueError where they are not one of each kind a word, leave out a word before, or are of frozen words.
        """
        count, size = len(labels), len(self.words)
        end = first + count
        if not labels.fit(count) or end > size:
            raise ValueError("a labelling has one label of each kind a word")
        if not self.frozen <= first <= len(self.labels):
            raise ValueError("a labelling begins behind the words whose labels are known")
        self.labels = self.labels.continued(first, labels)
        self.labelled_start = self.start
        self.settled = max(self.frozen, min(size - look_ahead_words, end))

    def freeze(self, end: int, previous_tag: int, lang: str = "") -> int:
        """Freeze the words before ``end``, their tags as they are final, and return the last frozen tag.

        lang: of the session (BCP-47).
        """
        if end <= self.frozen:
            return previous_tag
        tags = final_tags(self.views, self.labels, self.frozen, end, previous_tag, lang)
        if tags != self.labels.disfluency:
            self.labels = self.labels.with_tags(tags)
        self.frozen = end
        return tags[end - 1] if tags else Disfluency.O.value

    def cuts(self, look_ahead_words: int) -> list[int]:
        """Return where unfrozen sentences end with ``look_ahead_words`` words behind (Algorithm 1, over and over)."""
        return self.sentence_ends(self.frozen, min(len(self.labels), len(self.words) - look_ahead_words))

    def sentence_ends(self, start: int, end: int) -> list[int]:
        """Return where sentences end among the words from ``start`` to ``end``, each as the count of words so far."""
        return [found.end() for found in _SENTENCE_END.finditer(self.labels.punctuation, start, end)]

    def past(self, *, more_than: int) -> int:
        """Return how many frozen words stand up to the last sentence end among them; 0 where it is not more than so."""
        if self.frozen <= more_than:
            return 0
        ends = self.sentence_ends(more_than, self.frozen)
        return ends[-1] if ends else 0

    def last_comma(self, look_ahead_words: int, least: int) -> int | None:
        """Return where to cut after the last comma that frees ``least`` words and has enough after it, or None."""
        return self._last(COMMAS, least, len(self.words) - look_ahead_words)

    def last_mark(self, least: int, most: int) -> int | None:
        """Return the largest count of words from ``least`` to ``most`` that ends in a mark, or None."""
        return self._last(_MARKS, least, min(most, len(self.labels)))

    def _last(self, marks: frozenset[int], least: int, most: int) -> int | None:
        ends, punctuation = range(most, max(least, 1) - 1, -1), self.labels.punctuation
        return next((end for end in ends if punctuation[end - 1] in marks), None)

    def drop(self, end: int) -> None:
        """Let the first ``end`` words leave; they are frozen. Nothing is settled before the next labelling."""
        assert end <= self.frozen, "only frozen words leave the buffer"
        del self.words[:end], self.views[:end], self._encoded[:end], self._lengths[:end]
        self.labels = self.labels.part(end)
        self.start += end
        self.frozen -= end
        self.settled = 0

    def stored_words(self) -> Raw:
        """Return the words as a snapshot holds them: one array. Most stand in many snapshots, and are encoded once."""
        self._encoded += [encode_word(word) for word in self.words[len(self._encoded) :]]
        return word_array(self._encoded)

    def lengths(self) -> tuple[int, ...]:
        """Return each word's code points."""
        self._lengths += [_code_points(word.pieces) for word in self.words[len(self._lengths) :]]
        return tuple(self._lengths)


def _code_points(pieces: Sequence[ModelWordPiece]) -> int:
    return len(pieces[0].text) if len(pieces) == 1 else sum(len(piece.text) for piece in pieces)


def final_tags(views: Sequence[str], labels: Labels, start: int, end: int, previous_tag: int, lang: str) -> bytes:
    """Return the tags of a buffer's labelled words, those from ``start`` to ``end`` as they freeze.

    A guard takes tags away (``kept_words``, ``european_guard``). Then an I-tag that continues nothing
    begins something: what it continues is frozen already, so the outcome is as final as the label.

    views: the model's view of each word. labels: of the first words. previous_tag: of the word before ``start``.
    lang: of the session (BCP-47).
    """
    if not any(labels.disfluency[start:]):
        return labels.disfluency
    tags = bytearray(labels.disfluency)
    if (language := primary_language(lang)) in EUROPEAN:
        guard_european_tags(views, tags, start, end, language)
    else:
        guard_tags(views, labels.punctuation, tags, start, end)
    tag = previous_tag
    for place in range(start, end):
        given = tags[place]
        continues = given not in _INSIDE or tag in (given - 1, given)
        tag = tags[place] = given if continues else given - 1
    return bytes(tags)
