"""Own text in three parts: what is trained on, what training is watched on, and what the figures are of.

A document's part is drawn from its content alone (SHA-256), so it is the same in every run, and a file that comes later
moves no other. One in ten is scored and one in ten is watched, at least one each; the text that decides when training
ends is never the text that is reported. Where whole files would make lopsided parts (there are one or two, or one of
them is most of the text) files are cut into stretches of whole paragraphs, and stretches are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from caesura.models.data.corpora import place
from caesura.models.tuning.own_text import OwnFile
from caesura.worker.errors import FatalError

_STRETCH_CHARACTERS = 800
_SHARE = 0.1
_LEAST_TRAINING, _LEAST_HELD_OUT = 0.6, 0.04
_PLACES = 2**32


@dataclass(frozen=True, slots=True, kw_only=True)
class TextParts:
    """The three parts, each in the order of the places that their documents drew. whole_files: no file was cut."""

    training: tuple[OwnFile, ...]
    watched: tuple[OwnFile, ...]
    scored: tuple[OwnFile, ...]
    whole_files: bool

    @property
    def lopsided(self) -> bool:
        """Tell whether a part is too small for what it is for."""
        sizes = [sum(file.characters for file in part) for part in (self.training, self.watched, self.scored)]
        training, *held_out = (size / max(sum(sizes), 1) for size in sizes)
        return training < _LEAST_TRAINING or min(held_out) < _LEAST_HELD_OUT


def split(files: Sequence[OwnFile]) -> TextParts:
    """Draw the parts; FatalError where there are too few paragraphs to draw from."""
    parts = _drawn(files, whole_files=True)
    if not parts.lopsided:
        return parts
    parts = _drawn([stretch for file in files for stretch in _stretches(file)], whole_files=False)
    if parts.lopsided:
        raise FatalError(
            "the text cannot be split into training and held-out text: it has too few files and paragraphs "
            f"(a paragraph ends at a line end; {_STRETCH_CHARACTERS} characters are held together)"
        )
    return parts


def _drawn(files: Sequence[OwnFile], *, whole_files: bool) -> TextParts:
    drawn = sorted((place("\n".join(file.paragraphs)), file.name, file) for file in files)
    most = len(drawn) // 3
    ends: list[int] = [0]
    for share in (_SHARE, 2 * _SHARE):
        below = sum(number < share * _PLACES for number, _, _ in drawn)
        ends.append(min(max(below, ends[-1] + 1), ends[-1] + most))
    ordered = [file for _, _, file in drawn]
    return TextParts(
        scored=tuple(ordered[: ends[1]]),
        watched=tuple(ordered[ends[1] : ends[2]]),
        training=tuple(ordered[ends[2] :]),
        whole_files=whole_files,
    )


def _stretches(file: OwnFile) -> Iterator[OwnFile]:
    """Cut a file after each paragraph that fills a stretch; what is left at the end is a stretch too."""
    held: list[str] = []
    number = 0
    for last, paragraph in enumerate(file.paragraphs, start=1):
        held.append(paragraph)
        if sum(map(len, held)) >= _STRETCH_CHARACTERS or last == len(file.paragraphs):
            number += 1
            yield OwnFile(name=f"{file.name}#{number}", paragraphs=tuple(held))
            held = []
