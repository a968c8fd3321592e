"""The figures of the Chinese model, all by character: marks on held-out speech, disfluencies on gold labels.

The units are single characters and other words, without any mark, as the plainest recogniser sends them. So what is
scored does not depend on how the text was cut into words: a mark inside a word that the cutter made is missed.
"""

from __future__ import annotations

import difflib
import re
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from caesura.models.data.chinese_corpora import CHINESE_TEST, read_chinese_units, read_cs2w
from caesura.models.data.chinese_marks import LabelledUnit, read_chinese_marks
from caesura.models.data.recipes import is_held_out
from caesura.models.decoding.labelling_runs import Progress
from caesura.models.decoding.ways import Decoding
from caesura.models.evaluation.figures import (
    EITHER,
    TAG_CLASSES,
    Figure,
    GoldSession,
    ScoredLanguage,
    count_tags,
    figures_of,
    label_texts,
)
from caesura.models.evaluation.scoring import count_blocks
from caesura.schemas.labels import Disfluency, Punctuation
from caesura.worker.core.language.dictionary import HAN
from caesura.worker.ports.engine import Engine

CHINESE_TESTS = (CHINESE_TEST, "cs2w", "zh_disfluency3k")
CHINESE_HELD_OUT = ("audreyt_train", "kdconv", "crosswoz", "smilechat", "tatoeba", "lctt")

CS2W_PARTS = {"cs2w": "test", "cs2w, validation part": "val", "cs2w, training part": "train"}
"""Which part of CS2W each text is. The last one says what a network has learnt by heart, not how good it is."""

COPIES_ALIKE = "either, of two copies the first"
"""CS2W's row in which it is all the same which of two equal copies is marked: what is left of the text is one."""

_PAIRS = ("zh_disfluency3k", "chinese_disfluency/dis.raw.3k", "chinese_disfluency/flu.raw.3k")
_PAIRS_TEST_LINES = 500
_CHINESE = re.compile(rf"[{HAN}]+")


def characters(word: str) -> list[str]:
    """Return a word's characters where it is Chinese, else the word."""
    return list(word) if _CHINESE.fullmatch(word) else [word]


def by_character(units: Iterable[LabelledUnit]) -> GoldSession:
    """Return units with Chinese characters one by one; the last of a unit has its mark."""
    text = GoldSession([], [], [])
    for unit in units:
        parts = characters(unit.text)
        text.units += parts
        text.marks += [int(Punctuation.NONE)] * (len(parts) - 1) + [unit.mark]
        text.tags += [unit.tag] * len(parts)
    return text


def evaluate_chinese(
    engine: Engine,
    corpora: Path,
    name: str,
    *,
    language: ScoredLanguage,
    decoding: Decoding,
    limit: int,
    progress: Progress = lambda _: None,
) -> list[Figure]:
    """Score marks, or tags where gold ones exist, on a test set or on held-out documents of an open corpus.

    Each document is one session, of CS2W and the pairs each sentence. limit: characters of the documents, about; CS2W
    and the pairs are scored whole.
    """
    texts = list(_texts(corpora, name, limit))
    labelled = label_texts(
        engine, [text.units for text in texts], language=language.code, decoding=decoding, progress=progress
    )
    marks = [mark for text in labelled for mark in text[0]]
    tags = [tag for text in labelled for tag in text[1]]
    if name in CS2W_PARTS or name == _PAIRS[0]:
        gold = [tag for text in texts for tag in text.tags]
        counts = count_tags(gold, tags, TAG_CLASSES | EITHER if name in CS2W_PARTS else EITHER)
        if name in CS2W_PARTS:
            gold = [tag for text in texts for tag in first_copies(text.units, text.tags)]
            tags = [
                tag for text, said in zip(texts, labelled, strict=True) for tag in first_copies(text.units, said[1])
            ]
            counts[COPIES_ALIKE] = count_tags(gold, tags, EITHER)["either"]
        return list(figures_of(name, decoding, "disfluency", counts))
    gold = [mark for text in texts for mark in text.marks]
    return list(figures_of(name, decoding, "punctuation", count_blocks(gold, marks, language.mark_classes)))


def _texts(corpora: Path, name: str, max_characters: int) -> Iterator[GoldSession]:
    if part := CS2W_PARTS.get(name):
        yield from (by_character(units) for _, units in read_cs2w(corpora, part))
    elif name == _PAIRS[0]:
        yield from _pairs(corpora)
    else:
        left = max_characters
        turns_by_document = read_chinese_units(
            corpora, name, lambda key: name == CHINESE_TEST or is_held_out(name, key)
        )
        for _, turns in turns_by_document:
            if left <= 0:
                break
            text = by_character(unit for turn in turns for unit in turn)
            left -= len(text.units)
            yield text


def _pairs(corpora: Path) -> Iterator[GoldSession]:
    """Yield the last lines of the pairs that differ by deletions alone; what the fluent one lacks is disfluent."""
    name, verbatim, fluent = _PAIRS
    with tarfile.open(corpora / "labelled" / f"{name}.tar.xz") as archive:
        lines = [_lines(archive, member) for member in (verbatim, fluent)]
    for said, meant in list(zip(*lines, strict=True))[-_PAIRS_TEST_LINES:]:
        text = by_character(LabelledUnit(unit.text) for unit in read_chinese_marks(said))
        kept = by_character(LabelledUnit(unit.text) for unit in read_chinese_marks(meant))
        if (tags := _deleted(text.units, kept.units)) is not None and text.units:
            yield GoldSession(text.units, text.marks, tags)


def _lines(archive: tarfile.TarFile, member: str) -> list[str]:
    file = archive.extractfile(member)
    if file is None:
        raise ValueError(f"the archive has no {member}")
    return file.read().decode("utf-8").splitlines()


def _deleted(said: Sequence[str], meant: Sequence[str]) -> list[int] | None:
    """Return a tag a unit, or None where more than deletions would be needed; of two copies the first was deleted."""
    tags = [int(Disfluency.O)] * len(said)
    matcher = difflib.SequenceMatcher(None, said, meant, autojunk=False)
    for operation, first, last, _, _ in matcher.get_opcodes():
        if operation in ("replace", "insert"):
            return None
        if operation == "delete":
            tags[first:last] = [int(Disfluency.B_RM)] * (last - first)
    return first_copies(said, tags)


def first_copies(units: Sequence[str], tags: Sequence[int]) -> list[int]:
    """Return the tags, one a unit, with each disfluent run at the first of two equal copies.

    What is left without the disfluent units is the same text: 很很 is 很, whichever of the two was taken back.
    """
    moved = list(tags)
    end = 0
    while end < len(moved):
        if moved[end] == Disfluency.O:
            end += 1
            continue
        start = end
        while end < len(moved) and moved[end] != Disfluency.O:
            end += 1
        run, first = moved[start:end], start
        while first > 0 and moved[first - 1] == Disfluency.O and units[first - 1] == units[first + len(run) - 1]:
            first -= 1
        moved[start:end] = [int(Disfluency.O)] * len(run)
        moved[first : first + len(run)] = run
    return moved
