"""What a session gives: frozen segments, and a look at the words that are not frozen."""

from __future__ import annotations

from dataclasses import dataclass

from caesura.schemas import segments as published
from caesura.schemas.segments import Cause, SegmentWord
from caesura.schemas.tentative import Tentative
from caesura.worker.core.rendering.rendering import Style, render_segment, render_tentative

__all__ = ["Segment", "Unfrozen"]


@dataclass(frozen=True, slots=True)
class Segment:
    """Words that are frozen for good, with their labels. ``published`` is all of it, as the worker publishes it."""

    published: published.Segment

    @property
    def text(self) -> str:
        """The segment as it is meant: punctuated, fillers and repairs left out. May be empty."""
        return render_segment(self.published, Style.FLUENT).text

    @property
    def marked(self) -> str:
        """Every word, punctuated, what was taken back in [brackets] and fillers in {braces}."""
        return render_segment(self.published, Style.MARKED).text

    @property
    def verbatim(self) -> str:
        """The words as they came."""
        return render_segment(self.published, Style.VERBATIM).text

    @property
    def words(self) -> tuple[SegmentWord, ...]:
        """The words with ``punctuation``, ``disfluency``, how probable both are, times and confidence as they came."""
        return self.published.words

    @property
    def cause(self) -> Cause:
        """Why it ends where it does; only ``sentence`` means that a sentence end was found."""
        return self.published.cause

    @property
    def sentence_end(self) -> bool:
        """Whether its last word ends a sentence."""
        return self.published.sentence_end

    @property
    def turn_end(self) -> float | None:
        """How probably the speaker had finished, 0 to 1, where it ends by a pause; what follows may prove it wrong."""
        return self.published.turn_end

    @property
    def session(self) -> str:
        """The session's name."""
        return self.published.session

    @property
    def index(self) -> int:
        """Its place in the session: 0, 1, 2 and so on."""
        return self.published.index

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        """Return its name, why it ends, and its text."""
        return f"<caesura.Segment {self.session} #{self.index}, {self.cause}: {self.marked!r}>"


@dataclass(frozen=True, slots=True)
class Unfrozen:
    """Words whose labels may still change, with their labels of now."""

    published: Tentative

    @property
    def words(self) -> tuple[SegmentWord, ...]:
        """The words; those after the first ``labelled_words`` have no label yet."""
        return self.published.words

    @property
    def labelled_words(self) -> int:
        """How many have been labelled."""
        return self.published.labelled_words

    @property
    def marked(self) -> str:
        """Every word as it would be written now."""
        return render_tentative(self.published).text

    def __repr__(self) -> str:
        """Return whose they are, how many are labelled, and how they would be written now."""
        held = self.published
        return (
            f"<caesura.Unfrozen {held.session}, {self.labelled_words} of {len(self.words)} labelled: {self.marked!r}>"
        )
