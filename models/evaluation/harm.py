"""What the fluent text changes of what was said: words left out that were meant, numbers, corrections, bare ends.

An F1 weighs a filler left in as much as a word taken out. Here each harm is counted by itself, of the text as published
at each level of cleaning (``cleaning``):

- a *content word left out*: a word whose gold tag is O. Of two equal copies either may go;
- a *number changed*: a run of number words that lost one;
- a *correction that keeps the wrong value*: what was taken back stays, and the cue or filler behind it is left out;
- a *finished session without a sentence mark*: no period or question mark behind the last word that is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from caesura.models.data.aligned_words import REPARANDUM, UNKNOWN
from caesura.models.data.chinese_numbers import CHINESE_NUMBER_SIGNS
from caesura.models.data.disfluencies import NUMBER_WORDS
from caesura.schemas.labels import Disfluency
from caesura.schemas.segments import SegmentWord
from caesura.worker.core.language.normalisation import model_view
from caesura.worker.core.numbers.european_numbers import EUROPEAN, is_european_number
from caesura.worker.core.rendering.cleaning import Cleaning, CleaningLevel

LEVELS = (CleaningLevel.FULL, CleaningLevel.MEDIUM, CleaningLevel.LIGHT)
_COLUMNS = (
    "model",
    "text",
    "level",
    "content words left out of 10,000",
    "numbers changed",
    "corrections that keep the wrong value",
    "finished sessions without a sentence mark",
)
_COPY_WORDS = 8
"""How far from a word its equal copy may stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidSession:
    """One session: the recogniser's words, each with its gold tag (``labels`` or UNKNOWN).

    finished: whether it ends with its sentence, so that a mark belongs there.
    """

    language: str
    words: tuple[str, ...]
    tags: tuple[int, ...]
    finished: bool = False


@dataclass(slots=True)
class Harm:
    """Counts of some sessions; left_out_places: (session, word) of each content word left out."""

    content: int = 0
    left_out: int = 0
    numbers: int = 0
    numbers_changed: int = 0
    corrections: int = 0
    wrong_value_kept: int = 0
    finished: int = 0
    without_mark: int = 0
    left_out_places: list[tuple[int, int]] = field(default_factory=list)

    @property
    def left_out_of_10_000(self) -> float:
        """Return the content words left out of 10,000."""
        return 10_000 * self.left_out / max(self.content, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class HarmRow:
    """A row of the table."""

    model: str
    text: str
    level: CleaningLevel
    harm: Harm


def harms(sessions: Sequence[SaidSession], published: Sequence[Sequence[SegmentWord]], level: CleaningLevel) -> Harm:
    """Count the harms to some sessions. published: the words of each session as they went out, one a word said."""
    total, cleaning = Harm(), Cleaning(level=level)
    for number, (said, words) in enumerate(zip(sessions, published, strict=True)):
        out = cleaning.left_out(words)
        views = [model_view(word) for word in said.words]
        lost = _lost(said, views, out)
        total.content += sum(tag == Disfluency.O and view != "" for tag, view in zip(said.tags, views, strict=True))
        total.left_out += len(lost)
        total.left_out_places += [(number, place) for place in lost]
        for start, stop in _number_runs(said, views):
            total.numbers += 1
            total.numbers_changed += any(start <= place < stop for place in lost)
        for start, stop, repaired in _corrections(said):
            total.corrections += 1
            total.wrong_value_kept += not any(out[start:stop]) and all(out[stop:repaired])
        if said.finished and not all(out):
            total.finished += 1
            last = max(place for place, gone in enumerate(out) if not gone)
            total.without_mark += all(word.punctuation not in ("period", "question") for word in words[last:])
    return total


def _lost(said: SaidSession, views: Sequence[str], out: Sequence[bool]) -> list[int]:
    """Return the places of content words left out, but where an equal copy that was to go is kept in their place."""
    copies = {
        place for place, (tag, gone) in enumerate(zip(said.tags, out, strict=True)) if tag in REPARANDUM and not gone
    }
    lost: list[int] = []
    for place, (tag, gone) in enumerate(zip(said.tags, out, strict=True)):
        if not gone or tag != Disfluency.O or not views[place]:
            continue
        near = (other for other in sorted(copies) if abs(other - place) <= _COPY_WORDS and views[other] == views[place])
        copy = next(near, None)
        if copy is None:
            lost.append(place)
        else:
            copies.remove(copy)
    return lost


def _number_runs(said: SaidSession, views: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where the runs of number words begin and stop; "and" between two number words is one of them."""

    def number(place: int) -> bool:
        if not 0 <= place < len(views) or said.tags[place] != Disfluency.O:
            return False
        view = views[place]
        if said.language in EUROPEAN:
            return is_european_number(view, said.language)
        return view in NUMBER_WORDS or view.isdigit() or (view != "" and set(view) <= CHINESE_NUMBER_SIGNS)

    def within(place: int) -> bool:
        return number(place) or (
            place < len(views) and views[place] == "and" and number(place - 1) and number(place + 1)
        )

    place = 0
    while place < len(views):
        if number(place):
            start = place
            while within(place):
                place += 1
            yield start, place
        else:
            place += 1


def _corrections(said: SaidSession) -> Iterator[tuple[int, int, int]]:
    """Yield where a reparandum with an interregnum behind it begins, where it stops, and where the interregnum does."""
    place = 0
    while place < len(said.tags):
        start = place
        while place < len(said.tags) and said.tags[place] in REPARANDUM:
            place += 1
        stop = place
        while place < len(said.tags) and said.tags[place] in (Disfluency.B_IM, Disfluency.I_IM):
            place += 1
        if start < stop < place < len(said.tags) and said.tags[place] != UNKNOWN:
            yield start, stop, place
        place = max(place, start + 1)


def harm_table(rows: Sequence[HarmRow]) -> str:
    """Return the rows as a Markdown table."""
    lines = [
        f"| {' | '.join(_COLUMNS)} |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        harm = row.harm
        cells = (
            f"{harm.left_out_of_10_000:.1f} ({harm.left_out} of {harm.content})",
            _of(harm.numbers_changed, harm.numbers),
            _of(harm.wrong_value_kept, harm.corrections),
            _of(harm.without_mark, harm.finished),
        )
        lines.append(f"| {row.model} | {row.text} | {row.level} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _of(count: int, whole: int) -> str:
    return f"{count} of {whole}" if whole else "–"
