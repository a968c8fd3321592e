"""Sessions with gold tags for the table of harm: a file of labelled lines, CHILDES, Switchboard, open text."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from caesura.models.data.aligned_words import AlignedDocument
from caesura.models.data.corpora import place
from caesura.models.evaluation.harm import SaidSession
from caesura.schemas.labels import Disfluency

_TAGS = {"R": int(Disfluency.B_RM), "RM": int(Disfluency.B_RM), "F": int(Disfluency.B_IM), "IM": int(Disfluency.B_IM)}
_CLITICS = ("'", "\u2019")
_JOINED_TO = {"wan": ("na",), "gon": ("na",), "got": ("ta", "n't"), "lem": ("me",), "gim": ("me",)}
_ENDS = frozenset(".?。？")


def line_sessions(path: Path) -> Iterator[SaidSession]:
    """Yield a session a line of JSON: ``lang``, and ``accept``, [word, mark, marks that are right, tag, …] a word.

    A tag is R (taken back), F (filler), O (may stay or go) or null. ValueError names a line that has another form.
    """
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                yield _session(json.loads(line))
            except (KeyError, TypeError, ValueError, IndexError) as error:
                raise ValueError(f"{path}, line {number}: not a labelled line: {error!r}") from error


def _session(row: dict[str, Any]) -> SaidSession:
    words = [(str(word), mark, tag) for word, mark, _, tag, *_ in row["accept"]]
    said = row["input"].split() if row["lang"] != "zh" else [word.lower() for word, _, _ in words]
    if len(said) != len(words):
        raise ValueError(f"{len(said)} words in input, {len(words)} in accept")
    last = next((mark for _, mark, tag in reversed(words) if tag is None), "")
    return SaidSession(
        language=row["lang"],
        words=tuple(said),
        tags=tuple(_tag(tag) for _, _, tag in words),
        finished=last in _ENDS and last != "",
    )


def _tag(tag: str | None) -> int:
    if tag is None:
        return int(Disfluency.O)
    return -1 if tag == "O" else _TAGS[tag]


def childes_sessions(corpora: Path) -> Iterator[SaidSession]:
    """Yield each utterance of CHILDES as a session, in an order of their own: any first part is a fair sample.

    A clitic that the annotation splits off is joined again.
    """
    lines: list[str] = []
    for path in sorted((corpora / "labelled").glob("childes_*.jsonl.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as file:
            lines += file
    for line in sorted(lines, key=place):
        words: list[str] = []
        tags: list[int] = []
        for word, tag in json.loads(line)["words"]:
            if words and (word.startswith(_CLITICS) or word in _JOINED_TO.get(words[-1], ("n't", "n\u2019t"))):
                words[-1] += word
            else:
                words.append(word)
                tags.append(_TAGS.get(tag, int(Disfluency.O)))
        yield SaidSession(language="en", words=tuple(word.lower() for word in words), tags=tuple(tags), finished=True)


def document_sessions(documents: Iterable[AlignedDocument], language: str) -> Iterator[SaidSession]:
    """Yield each document as a session of its words and the tags that are known of them, Chinese by the character."""
    for document in documents:
        said = [
            (unit, tag)
            for word, tag in zip(document.words, document.disfluency, strict=True)
            for unit in (word if language == "zh" and not word.isascii() else (word,))
        ]
        if said:
            yield SaidSession(
                language=language, words=tuple(unit for unit, _ in said), tags=tuple(tag for _, tag in said)
            )
