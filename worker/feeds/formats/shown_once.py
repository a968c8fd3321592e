"""Captions that show words more than once, each word once and with its own time.

- A cue that comes again with its times and text, at the joints of HLS segments, is dropped; one that was cut in two at
  a joint goes on.
- Captions that roll up, as YouTube's do, repeat their last lines above the new ones, with or without time stamps
  within the lines; some grow by a word a cue. Lines that were just shown are dropped, as often as they were shown. Of
  the cues that follow without a gap, in a file that rolls one repeats a line above a new one and lines have time stamps
  within them; or a quarter are of a few milliseconds and repeat lines; or most begin with the end of the cue before.
- Captions that show a text cue after cue and mark the word that is spoken: each word has the time of its mark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from caesura.worker.feeds.formats.caption_text import Line, TextPiece, plain, text_of_lines
from caesura.worker.feeds.formats.cues import FileCue

_GAP_MS = 250
_FLICKER_MS = 20
_REMEMBERED = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCue:
    """What a cue says. end_ms: where its last word ends at the latest."""

    begin_ms: int
    end_ms: int
    lines: tuple[Line, ...]
    joint: bool = False

    @property
    def texts(self) -> tuple[str, ...]:
        """The plain text of each line."""
        return tuple(map(plain, self.lines))


def shown_once(cues: Iterable[FileCue]) -> list[ShownCue]:
    """Return the cues with what each says for the first time; cues that say nothing new are left out."""
    given = [
        ShownCue(begin_ms=cue.begin_ms, end_ms=cue.end_ms, lines=text_of_lines(cue.lines, cue.voice), joint=cue.joint)
        for cue in cues
    ]
    told = _highlighted(_joined(cue for cue in given if any(cue.texts)))
    if (parted := _rolled_in_line(told)) is not None:
        return parted
    return list(_unrolled(told)) if _rolls(told) else told


def _joined(cues: Iterable[ShownCue]) -> list[ShownCue]:
    """Return the cues without those that come again at the joints of segments."""
    told: list[ShownCue] = []
    for cue in cues:
        recent = told[-_REMEMBERED:]
        again = next((one for one in recent if _is_again(one, cue)), None)
        if again is not None:
            told[told.index(again, -_REMEMBERED)] = replace(again, end_ms=max(again.end_ms, cue.end_ms))
            continue
        last = told[-1] if told else None
        if cue.joint and last is not None and last.lines == cue.lines and last.begin_ms <= cue.begin_ms <= last.end_ms:
            told[-1] = replace(last, end_ms=max(last.end_ms, cue.end_ms))
            continue
        told.append(cue)
    return told


def _is_again(one: ShownCue, cue: ShownCue) -> bool:
    """Tell whether a cue begins with another and says the same; one without length is a word of its own."""
    return one.begin_ms == cue.begin_ms < one.end_ms and one.lines == cue.lines


def _is_stamped(line: Line) -> bool:
    """Tell whether a line has time stamps within it."""
    return any(piece.stamp_ms is not None for piece in line)


# Captions that roll up.


def _follows(before: ShownCue, cue: ShownCue) -> bool:
    """Tell whether a cue is shown where the one before it ends, or sooner."""
    return cue.begin_ms <= before.end_ms + _GAP_MS


def _rolls(cues: Sequence[ShownCue]) -> bool:
    pairs = [(before, cue) for before, cue in pairwise(cues) if _follows(before, cue)]
    carried = [(cue, _carried(before.texts, cue)) for before, cue in pairs]
    stamped = any(_is_stamped(line) for cue in cues for line in cue.lines)
    if stamped and any(0 < lines < len(cue.lines) for cue, (lines, _) in carried):
        return True
    flickers = sum(lines > 0 and cue.end_ms - cue.begin_ms <= _FLICKER_MS for cue, (lines, _) in carried)
    if flickers and 4 * flickers >= len(pairs):
        return True
    rolled = [cue for cue, (lines, words) in carried if words or 0 < lines < len(cue.lines)]
    whole = len(rolled) == len(cues) - 1 > 0 and all(cue.begin_ms <= before.end_ms for before, cue in pairs)
    return 2 * len(rolled) >= len(pairs) and (len(rolled) > 1 or whole)


def _carried(shown: Sequence[str], cue: ShownCue) -> tuple[int, int]:
    """Return how many of a cue's first lines were just shown at the end, and words of the next line, which grew.

    A line with time stamps within it is new.
    """
    texts = cue.texts
    if len(texts) > 1 and tuple(shown) == texts and len(set(texts)) == 1 and cue.end_ms - cue.begin_ms > _FLICKER_MS:
        return len(texts) - 1, 0  # said once more: the first line has rolled away
    kept = next((at for at, line in enumerate(cue.lines) if _is_stamped(line)), len(texts))
    for count in range(min(len(shown), kept), 0, -1):
        if tuple(shown[-count:]) == texts[:count]:
            return count, 0
    for count in range(min(len(shown), kept), 0, -1):
        last = shown[-1]
        if tuple(shown[-count:-1]) == texts[: count - 1] and texts[count - 1].startswith(f"{last} "):
            return count - 1, len(last.split())
    return 0, 0


def _unrolled(cues: Iterable[ShownCue]) -> Iterator[ShownCue]:
    before: ShownCue | None = None
    for cue in cues:
        lines, words = _carried(before.texts, cue) if before is not None and _follows(before, cue) else (0, 0)
        new = cue.lines[lines:]
        if words:
            new = (_without_words(new[0], words), *new[1:])
        before = cue
        if any(map(plain, new)):
            yield replace(cue, lines=new)


def _rolled_in_line(cues: Sequence[ShownCue]) -> list[ShownCue] | None:
    """Return the cues without words said before, where each of most has what the one before it added, then new words.

    Such cues were captions of two lines that roll up, put into one line. None: these are not.
    """
    told: list[ShownCue] = []
    in_line = all(len(cue.lines) == 1 for cue in cues)
    shown: list[str] = []
    added = 0  # how many words the cue before added at its end
    rolled, pairs, before = 0, 0, None
    for cue in cues:
        words = " ".join(cue.texts).split()
        follows = before is not None and _follows(before, cue)
        pairs += follows
        before = cue
        again = _again(shown, added, words, by_end=in_line) if follows and len(cue.lines) == 1 else 0
        if again:
            rolled += 1
            told.append(replace(cue, lines=(_without_words(cue.lines[0], again),)))
        else:
            told.append(cue)
        shown, added = words, len(words) - again
    return told if rolled > 1 and 2 * rolled > pairs else None


def _again(shown: Sequence[str], added: int, words: Sequence[str], *, by_end: bool) -> int:
    """Return how many of a cue's first words were shown just before: those that the cue before it added.

    by_end: of a cue before it that added all its words, the end is looked for.
    """
    most = min(added, len(words) - 1)
    if 1 < added <= most and shown[-added:] == words[:added]:
        return added
    if not by_end or added < len(shown):
        return 0
    ends = (count for count in range(min(most, _REMEMBERED), 1, -1) if shown[-count:] == words[:count])
    return next((count for count in ends if len(set(words[:count])) > 1), 0)  # la la la is sung anew


def _without_words(line: Line, count: int) -> Line:
    """Return a line without its first words."""
    told: list[TextPiece] = []
    for piece in line:
        words = piece.text.split()
        dropped = min(count, len(words))
        count -= dropped
        if len(words) > dropped or not words:
            told.append(replace(piece, text=" ".join(words[dropped:])) if dropped else piece)
    return tuple(told)


# Captions that mark the word that is spoken.


@dataclass(slots=True)
class _Marked:
    """Cues that show the same text one after another. marks: where each one's mark begins, and when it is shown."""

    cues: list[ShownCue] = field(default_factory=list)
    marks: list[tuple[int, int]] = field(default_factory=list)
    last_marked: int = -1

    def takes(self, cue: ShownCue, mark: tuple[int, int] | None) -> bool:
        """Tell whether a cue goes on with these: the same text, a later word."""
        if not self.cues or cue.texts != self.cues[0].texts or not _follows(self.cues[-1], cue):
            return False
        return mark is None or mark[0] > self.last_marked

    def take(self, cue: ShownCue, mark: tuple[int, int] | None) -> None:
        self.cues.append(cue)
        if mark is not None:
            self.marks.append((mark[0], cue.begin_ms))
            self.last_marked = mark[1]


def _highlighted(cues: Sequence[ShownCue]) -> list[ShownCue]:
    """Return the cues, those of which each marks a word of one text as a single one with time stamps."""
    groups: list[_Marked] = []
    for cue in cues:
        mark = _mark(cue)
        if not groups or not groups[-1].takes(cue, mark):
            groups.append(_Marked())
        groups[-1].take(cue, mark)
    if not any(len(group.marks) > 1 for group in groups):
        return list(cues)
    told: list[ShownCue] = []
    for group in groups:
        told += [_stamped(group)] if len(group.marks) > 1 or group.last_marked == 0 else group.cues
    return told


def _mark(cue: ShownCue) -> tuple[int, int] | None:
    """Return the first and the last word that a cue marks; None: none, words apart, or all of several."""
    marked = [piece.marked for line in cue.lines for piece in line for _ in piece.text.split()]
    if any(map(_is_stamped, cue.lines)) or True not in marked:
        return None
    first, last = marked.index(True), len(marked) - 1 - marked[::-1].index(True)
    if not all(marked[first : last + 1]) or (all(marked) and len(marked) > 1):
        return None
    return first, last


def _stamped(group: _Marked) -> ShownCue:
    """Return the text of cues as one cue, a time stamp before each word that a cue marks."""
    begins = dict(group.marks)
    first, last = group.cues[0], group.cues[-1]
    lines: list[Line] = []
    count = 0
    for text in first.lines:
        pieces: list[TextPiece] = []
        for piece in text:
            for word in piece.text.split():
                pieces.append(TextPiece(f" {word}", begins.get(count), piece.voice))
                count += 1
        lines.append(tuple(pieces))
    return ShownCue(begin_ms=first.begin_ms, end_ms=last.end_ms, lines=tuple(lines), joint=first.joint)
