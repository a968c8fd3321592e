"""Requests to a model, one for each session and step; ``caesura.schemas.labels.Labels`` are the answer.

A request has the whole buffer and names the words whose labels the step can use. So an engine may keep results for
earlier words, and compute only what these labels need.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Probabilities(StrEnum):
    """What is published of how sure a model is: nothing; whether the speaker has finished; that, and of each word."""

    OFF = "off"
    TURNS = "turns"
    WORDS = "words"


class ScoreOffsets(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """What is added to a model's scores (logits) before the likeliest class is taken.

    reparandum: to the two tags of words taken back; below 0, fewer words are left out. filler: to the two of fillers.
    sentence_end: to the marks that end a sentence, at the buffer's last word alone; infinity: one of them is taken.
    """

    reparandum: float = 0.0
    filler: float = 0.0
    sentence_end: float = 0.0


NO_OFFSETS = ScoreOffsets()


class LabelRequest(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """One session's buffer to be labelled.

    words: the model's view of each word of the buffer, oldest first, never empty; an item may be an empty string
        (a word of outer marks alone), which an engine must still label.
    buffer_start: the session's count of model words before ``words[0]``; it changes where words leave the buffer.
    model_id: the model that labels this buffer (``id@version``), one of the engine's.
    first, end: labels are wanted of ``words[first:end]``; None: of all from ``first`` on.
    offsets: what the engine adds to its scores before it chooses labels.
    probabilities: which columns of probabilities are wanted; a model that is not calibrated gives none.
    """

    session: str
    model_id: str
    buffer_start: int
    words: tuple[str, ...]
    first: int = 0
    end: int | None = None
    offsets: ScoreOffsets = NO_OFFSETS
    probabilities: Probabilities = Probabilities.OFF

    @property
    def wanted(self) -> range:
        """The places in ``words`` whose labels are wanted; never none."""
        return range(self.first, len(self.words) if self.end is None else self.end)

    @property
    def closes(self) -> bool:
        """Tell whether the last wanted word is the buffer's last, which no word follows."""
        return self.wanted.stop == len(self.words)
