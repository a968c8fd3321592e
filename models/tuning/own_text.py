"""A folder of plain punctuated text files to paragraphs, and paragraphs to words with marks: the user's own corpus.

1. Every ``.txt`` file below the folder is a document, named by its path; it is UTF-8, a byte order mark is passed over.
2. A line end or a blank line ends a paragraph; in wrapped text a blank line alone does.
3. Marks are mapped by the rules of the corpora (``data/marks.py``, ``data/chinese_marks.py``), Chinese words are cut by
   ``core``.
4. Nobody tagged fillers and repairs in such text, so tags are unknown: the loss of that head is masked. Text that is
   said to be fluent has tags, and ``recipes`` may insert disfluencies into it.

No error names a word of the text: files, bytes and numbers alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.models.evaluation.figures import GoldSession
from caesura.models.languages.registry import LANGUAGES
from caesura.worker.core.language.dictionary import HAN
from caesura.worker.errors import FatalError

_HAN = re.compile(rf"[{HAN}]")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFile:
    """A document, or a stretch of one: its name and its paragraphs in order."""

    name: str
    paragraphs: tuple[str, ...]

    @property
    def characters(self) -> int:
        """How long it is."""
        return sum(map(len, self.paragraphs))


def read_folder(folder: Path, language: str, *, wrapped: bool = False) -> list[OwnFile]:
    """Return the documents of a folder, by name.

    FatalError for a folder without text files, and for a file that is not UTF-8, holds no word, has no mark at all, or
    is of another language.
    """
    if not folder.is_dir():
        raise FatalError(f"{folder} is not a folder")
    paths = sorted(path for path in folder.rglob("*.txt") if path.is_file())
    if not paths:
        raise FatalError(f"{folder} holds no .txt file")
    return [_read_file(path, path.relative_to(folder).as_posix(), language, wrapped=wrapped) for path in paths]


def _read_file(path: Path, name: str, language: str, *, wrapped: bool) -> OwnFile:
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = error.start
        raise FatalError(f"{name} is not UTF-8: byte {at} is 0x{error.object[at]:02x} ({error.reason})") from error
    file = OwnFile(name=name, paragraphs=_paragraphs(text, LANGUAGES[language].own_text.joiner if wrapped else None))
    _check_language(file, language)
    marks = [mark for paragraph in _marks(file, language) for mark in paragraph]
    if not marks:
        raise FatalError(f"{name} holds no word")
    if not any(mark > 0 for mark in marks):
        raise FatalError(f"{name} has {len(marks)} words and no mark at all: there is nothing to learn from it")
    return file


def _paragraphs(text: str, joint: str | None) -> tuple[str, ...]:
    """Return the paragraphs of a text; joint: what stands between the lines of a wrapped one."""
    lines = [line.strip() for line in text.splitlines()]
    if joint is None:
        return tuple(line for line in lines if line)
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line:
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return tuple(joint.join(block) for block in blocks if block)


def _check_language(file: OwnFile, language: str) -> None:
    text = "".join(file.paragraphs)
    letters = len(_LETTER.findall(text))
    chinese = len(_HAN.findall(text)) / max(letters, 1)
    low, high = LANGUAGES[language].own_text.han_share
    if letters and not low <= chinese <= high:
        raise FatalError(f"{file.name}: {chinese:.0%} of its letters are Chinese characters; is it in {language}?")


def aligned(file: OwnFile, language: str, *, fluent: bool = False) -> AlignedDocument:
    """Return the words of a document with their marks; tags are unknown unless the text is said to be fluent."""
    document = LANGUAGES[language].own_text.document(file.name, file.paragraphs, fluent=fluent)
    if not fluent:
        document.disfluency = [UNKNOWN] * len(document.words)
    return document


def session_of(file: OwnFile, language: str) -> GoldSession:
    """Return a document as a recogniser would send it, with gold marks: what a figure is computed on."""
    return LANGUAGES[language].own_text.session(file.paragraphs)


def unmarked_lines(file: OwnFile, language: str) -> float:
    """Return the share of the paragraphs whose last word has no mark: a large one speaks for wrapped lines."""
    ends = [marks[-1] for marks in _marks(file, language) if marks]
    return sum(mark == UNKNOWN for mark in ends) / max(len(ends), 1)


def _marks(file: OwnFile, language: str) -> list[list[int]]:
    """Return the marks of each paragraph, one a word of the text; Chinese is not cut into words for it."""
    return [LANGUAGES[language].own_text.marks(paragraph) for paragraph in file.paragraphs]
