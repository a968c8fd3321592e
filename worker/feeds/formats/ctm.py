"""NIST CTM (``.ctm``): ``file channel start duration word [confidence [type [speaker]]]`` a line, seconds.

Source: https://github.com/usnistgov/SCTK/blob/master/doc/infmts.htm and, for type and speaker, NIST's evaluation plan
of RT-09. ``;;`` begins a comment.

Each file and channel is a stream, and each speaker a session. Alternatives (``<ALT_BEGIN>`` …) keep their first; what
stands in angle brackets is no word, nor is ``SIL``, a sound of type ``non-lex`` or one in brackets (``[noise]``,
``{breath}``; ``{um}`` is a filler). ``(word)`` was heard, and a scorer may leave it out.
Fillers stand as the recogniser's dictionary writes them (``%hesitation`` among them).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from caesura.worker.feeds.hypothesis import HeardWord, Hypothesis
from caesura.worker.feeds.refusal import BadLineError
from caesura.worker.feeds.spoken_text import spoken_words
from caesura.worker.feeds.times import seconds_ms
from caesura.worker.feeds.written_words import is_mark

_ALTERNATIVES = ("<ALT_BEGIN>", "<ALT>", "<ALT_END>")
_TYPES = ("lex", "frag", "fp", "un-lex", "for-lex", "non-lex", "misc", "noscore")
_NO_SPEAKER = ("na", "unknown", "null", "-")


def is_ctm(line: str) -> bool:
    """Tell whether a line is one of a CTM file."""
    fields = line.split()
    if len(fields) == 5 and fields[4].upper() in _ALTERNATIVES:
        return True
    timed = len(fields) > 4 and seconds_ms(fields[2]) is not None and seconds_ms(fields[3]) is not None
    return timed and (len(fields) < 7 or (len(fields) < 9 and fields[6].lower() in _TYPES))


def hypotheses(lines: Iterable[str]) -> Iterator[Hypothesis]:
    """Yield a final hypothesis a word; reads all lines first. BadLineError names a line that is not CTM."""
    rows = list(_rows(lines))
    several = len({stream for stream, _ in rows}) > 1
    for stream, said in groupby(rows, key=itemgetter(0)):
        for word in spoken_words([word for _, word in said]):
            if not is_mark(word.text):
                yield Hypothesis(
                    words=(word,), stream=stream if several else "", final=True, heard_until_ms=word.end_ms
                )


def _rows(lines: Iterable[str]) -> Iterator[tuple[str, HeardWord]]:
    kept = True
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields or fields[0].startswith(";;"):
            continue
        mark = fields[4].upper() if len(fields) > 4 else ""
        if mark in _ALTERNATIVES:
            kept = mark != "<ALT>"
            continue
        if not is_ctm(line):
            raise BadLineError(f"line {number} is none of CTM: file, channel, start, duration, word")
        no_word = mark in ("SIL", "!SIL") or (mark.startswith("<") and mark.endswith(">"))
        if kept and not no_word and fields[6:7] != ["non-lex"]:
            yield f"{fields[0]}/{fields[1]}", _word(fields)


def _word(fields: list[str]) -> HeardWord:
    braced = re.fullmatch(r"\{(\S+)\}", fields[4])
    text = f"[{braced[1]}]" if braced is not None else re.sub(r"^\((.+)\)$", r"\1", fields[4])
    start_ms, duration_ms = seconds_ms(fields[2]) or 0, seconds_ms(fields[3]) or 0
    score_permille = seconds_ms(fields[5]) if len(fields) > 5 else None
    known = score_permille / 1000 if score_permille is not None and score_permille <= 1000 else None
    speaker = fields[7] if len(fields) > 7 and fields[7].lower() not in _NO_SPEAKER else ""
    return HeardWord(
        text=text,
        start_ms=start_ms,
        end_ms=start_ms + duration_ms,
        confidence=known,
        speaker=speaker,
    )
