"""Switchboard's disfluency mark-up to words and what each is: the English disfluency test, for figures only.

Its licence forbids redistribution, so nothing shipped learns from it and no line of it stands here. The mark-up:

    [ reparandum, + {F uh, } repair ]   brackets nest; what lies before a bracket's + is its reparandum
    {F ..} {E ..} {D ..}                filled pause, editing term, discourse marker: interregna
    {C ..} {A ..}                       conjunction, aside: fluent
    w-                                  a word broken off; it is left out, as recognisers leave it out
    /                                   the slash unit ends; -- goes on after the other speaker
    , . ? !                             marks, of the word before them; of a word left out they are left out too
    <..> <<..>> # (( )) *[[..]]         noises, overlaps, doubt, remarks: no words

Rules: an interregnum inside a reparandum is an interregnum; a bracket or brace left open ends with its slash unit.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from caesura.schemas.labels import Punctuation
from caesura.worker.core.language.normalisation import model_view

_ARCHIVE = "swda_utt.tar.xz"
_TEST = re.compile(r"sw_\d+_4[01]\d\d\.utt$")
_TRAINING = re.compile(r"sw_\d+_[23]\d\d\d\.utt$")
_UTTERANCE = re.compile(r"^\s*\S+\s+[@*]*(?P<speaker>[AB])\.\d+\s+utt\d+:(?P<text>.*)$")
_NO_SPEECH = re.compile(r"\*\[\[.*?\]\]|<<.*?>>|<[^>]*>")
_BROKEN_OFF = re.compile(r"^-\w|\w-[^\w-]*$")
_MARK = re.compile(r"[,.?!]+$")
_MARKS = {",": Punctuation.COMMA, ".": Punctuation.PERIOD, "!": Punctuation.PERIOD, "?": Punctuation.QUESTION}
_TOKENS = re.compile(r"\{[A-Z]*|[}\[\]+/]|[^\s{}\[\]+/#()]+")


class Role(Enum):
    """What a word is to what the speaker meant."""

    FLUENT = "fluent"
    REPARANDUM = "reparandum"
    FILLED_PAUSE = "filled pause"
    EDITING_TERM = "editing term"
    DISCOURSE_MARKER = "discourse marker"


_INTERREGNA = {"{F": Role.FILLED_PAUSE, "{E": Role.EDITING_TERM, "{D": Role.DISCOURSE_MARKER}


@dataclass(slots=True)
class SpeakerSide:
    """One speaker's words of one conversation, in the model's view.

    roles: one a word. covered: whether a bracket makes the word a reparandum, whatever brace it stands in. marks: one a
    word, as the transcript has them. unit_ends: for each slash unit with a word, the count of words up to its end.
    """

    words: list[str] = field(default_factory=list)
    roles: list[Role] = field(default_factory=list)
    covered: list[bool] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    unit_ends: list[int] = field(default_factory=list)
    _brackets: list[int] = field(default_factory=list)
    _braces: list[str] = field(default_factory=list)

    def read(self, text: str) -> None:
        """Take one utterance's text with its mark-up."""
        before = len(self.words)
        for token in _TOKENS.findall(_NO_SPEECH.sub(" ", text)):
            if token == "/":
                self.end_unit()
            elif token == "[":
                self._brackets.append(len(self.words))
            elif token == "]":
                del self._brackets[-1:]
            elif token == "+":
                self._repair_begins()
            elif token.startswith("{"):
                self._braces.append(token)
            elif token == "}":
                del self._braces[-1:]
            elif (word := model_view(token)) and not _BROKEN_OFF.search(token):
                self._add(word, _mark(token))
            elif not word and len(self.words) > before:
                self.marks[-1] = self.marks[-1] or _mark(token)

    def end_unit(self) -> None:
        """End the slash unit here; what it left open is closed."""
        self._brackets.clear()
        self._braces.clear()
        if self.words and self.unit_ends[-1:] != [len(self.words)]:
            self.unit_ends.append(len(self.words))

    def units(self) -> list[list[str]]:
        """Return the words of each slash unit."""
        starts = [0, *self.unit_ends]
        return [self.words[start:end] for start, end in zip(starts, self.unit_ends, strict=False)]

    def _add(self, word: str, mark: int) -> None:
        inside = [_INTERREGNA[brace] for brace in self._braces if brace in _INTERREGNA]
        self.words.append(word)
        self.roles.append(inside[-1] if inside else Role.FLUENT)
        self.covered.append(False)
        self.marks.append(mark)

    def _repair_begins(self) -> None:
        if not self._brackets:
            return
        for place in range(self._brackets[-1], len(self.words)):
            self.covered[place] = True
            if self.roles[place] is Role.FLUENT:
                self.roles[place] = Role.REPARANDUM
        self._brackets[-1] = len(self.words)


def _mark(token: str) -> int:
    found = _MARK.search(token)
    return int(_MARKS[found[0][0]] if found else Punctuation.NONE)


def read_sides(lines: Iterable[str]) -> list[SpeakerSide]:
    """Return the two speakers' sides of one conversation, those with a word; lines that are no utterance are passed."""
    sides: dict[str, SpeakerSide] = {}
    for line in lines:
        if found := _UTTERANCE.match(line):
            sides.setdefault(found["speaker"], SpeakerSide()).read(found["text"])
    for side in sides.values():
        side.end_unit()
    return [sides[speaker] for speaker in sorted(sides) if sides[speaker].words]


def read_swda_test(corpora: Path) -> Iterator[SpeakerSide]:
    """Yield the sides of the standard test part: conversations 4000 to 4199, by number."""
    return (side for _, side in _read_part(corpora, _TEST))


def read_swda_training(corpora: Path) -> Iterator[tuple[str, SpeakerSide]]:
    """Yield (name, side) of the standard training part: conversations 2000 to 3999. For benchmark variants only."""
    return _read_part(corpora, _TRAINING)


def _read_part(corpora: Path, part: re.Pattern[str]) -> Iterator[tuple[str, SpeakerSide]]:
    with tarfile.open(corpora / "labelled" / _ARCHIVE) as archive:
        found = {member.name[-8:]: member for member in archive.getmembers() if part.search(member.name)}
        texts: list[tuple[str, str]] = []
        for number in sorted(found):
            file = archive.extractfile(found[number])
            assert file is not None, "a conversation is a regular file"
            texts.append((number[:4], file.read().decode("utf-8", errors="replace")))
    for number, text in texts:
        yield from ((f"sw{number}-{k}", side) for k, side in enumerate(read_sides(text.splitlines())))
