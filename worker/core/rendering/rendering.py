"""Rendering: from one segment's frozen labels to the text that people and translators read. Pure; nothing is kept.

A segment is rendered from itself alone. The styles:

``verbatim``
    The recogniser's words, byte for byte, joined as their language joins words. No mark or capital of ours.
``marked``
    Punctuation and capitals restored; every word is there, a reparandum in ``[brackets]``, an interregnum (filler) in
    ``{braces}``, marks outside of them: ``I want [to Boston], {um}, to Denver.`` It is for reading; programs take the
    labels.
``fluent``
    Punctuation and capitals restored, fillers and reparanda left out, each unless it is asked to be kept.

Marks are the language's own and replace the recogniser's, never doubled, never leading. A sentence-ending mark on a
word left out moves to the last word kept before it in the segment, in place of a weaker one; so does a comma, unless
the words left out hold a reparandum, which it had set off. A parenthesis that is left out takes both its commas.

A word is written as its label ``casing`` says, and one that begins a sentence has a capital; a spelling that is neither
small, capital nor all capitals ("iPhone") is the recogniser's own and stays, as does every word ``as_given``. Where no
model punctuated (``replace_marks`` false) the recogniser's marks and capitals stay.

An overlay (``overlays``) stands for the words of a run, in ``marked`` and ``fluent``: with the mark of its
last word, within one sentence, and in ``marked`` within one bracket. Words that are redacted side by side are one run,
up to a mark, in every style.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from caesura.schemas.labels import Casing, kind_of
from caesura.schemas.segments import OverlayKind, PunctuationName, Segment, SegmentWord, TextOverlay
from caesura.schemas.tentative import Tentative
from caesura.worker.core.language.casing import cased, casing_of, mixed_case
from caesura.worker.core.language.normalisation import model_view
from caesura.worker.core.language.rules import primary_language
from caesura.worker.core.numbers.european_numbers import EUROPEAN, is_european_number
from caesura.worker.core.numbers.spoken_numbers import is_number_word
from caesura.worker.core.overlays.overlay import Stretch
from caesura.worker.core.overlays.rules import NO_OVERLAYS, OverlayRules
from caesura.worker.core.rendering.cleaning import Cleaning, is_sound
from caesura.worker.core.rendering.typography import (
    CHINESE_TYPOGRAPHY,
    ENGLISH_TYPOGRAPHY,
    Typography,
    bare,
    keeps_its_dot,
    typography_of,
    unspaced,
    written_in_latin,
)

_SENTENCE_ENDS: frozenset[PunctuationName] = frozenset({"period", "question"})
_BRACKETS = {"RM": ("[", "]"), "IM": ("{", "}")}
_CASINGS = {casing.published: casing for casing in Casing}
_ALL = Cleaning()
_ASKING = frozenset(
    "qué quién quiénes cómo cuándo dónde adónde cuál cuáles cuánto cuánta cuántos cuántas acaso".split()  # noqa: SIM905 - a list of words reads best as words
)
_BEFORE_ASKING = frozenset("a con de desde en hasta para por sobre y".split())  # noqa: SIM905 - the same
_TAGS = frozenset("no verdad cierto vale eh sí".split())  # noqa: SIM905 - the same
_MOST_TAG_WORDS = 2
_LONE_I = re.compile(r"i(?:-|['’](?:m|d|ll|ve|s)?)?")


class Style(StrEnum):
    """How a segment is rendered."""

    VERBATIM = "verbatim"
    MARKED = "marked"
    FLUENT = "fluent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A rendered segment; ``text`` may be empty.

    spans: [index of the word in the segment, start, end] in code points of ``text`` for each word rendered, in order;
    a span holds the word without marks, spaces and brackets of ours. Words that an overlay stands for have its span.
    overlays: in their order, with their places in ``text``.
    """

    text: str
    spans: tuple[tuple[int, int, int], ...]
    overlays: tuple[TextOverlay, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Part:
    """A word on its way into the text: its index, its text as rendered, the mark after it, and signs around it.

    An overlay is of several words: ``index`` is the first one's, ``others`` are the next ones'.
    """

    index: int
    text: str
    mark: PunctuationName = "none"
    opening: str = ""
    closing: str = ""
    others: tuple[int, ...] = ()
    overlay: OverlayKind | None = None

    @property
    def last(self) -> int:
        return self.others[-1] if self.others else self.index


def render_segment(
    segment: Segment,
    style: Style,
    *,
    keep_fillers: bool = False,
    keep_reparanda: bool = False,
    cleaning: Cleaning = _ALL,
    overlays: OverlayRules = NO_OVERLAYS,
    redacted: Collection[int] = (),
) -> Rendered:
    """Render a segment as published; without a model, or without marks of ours, the recogniser's own stay.

    What the session itself wants left out or kept is joined to ``cleaning``, its numbers and spellings to ``overlays``.
    """
    return render(
        segment.words,
        segment.lang,
        style,
        sentence_start=segment.sentence_start,
        keep_fillers=keep_fillers,
        keep_reparanda=keep_reparanda,
        cleaning=cleaning.joined(segment.own_fillers, segment.kept_phrases),
        overlays=overlays.joined(segment.numbers, segment.spellings),
        redacted=redacted,
        replace_marks=segment.model is not None and segment.punctuated,
    )


def render_tentative(
    tentative: Tentative, overlays: OverlayRules = NO_OVERLAYS, redacted: Collection[int] = ()
) -> Rendered:
    """Render words that are not frozen as they would be written now, ``marked``: nothing of them is left out yet."""
    return render(
        tentative.words,
        tentative.lang,
        Style.MARKED,
        sentence_start=tentative.sentence_start,
        overlays=overlays.joined(tentative.numbers, tentative.spellings),
        redacted=redacted,
        replace_marks=tentative.model is not None and tentative.punctuated,
    )


def render(  # noqa: PLR0913 - what a rendering may be told
    words: Sequence[SegmentWord],
    lang: str,
    style: Style,
    *,
    sentence_start: bool,
    keep_fillers: bool = False,
    keep_reparanda: bool = False,
    cleaning: Cleaning = _ALL,
    overlays: OverlayRules = NO_OVERLAYS,
    redacted: Collection[int] = (),
    replace_marks: bool = True,
) -> Rendered:
    """Render the words of one segment.

    sentence_start: whether the first word starts a sentence. keep_fillers, keep_reparanda: what ``fluent`` leaves in.
    cleaning: how much it leaves out, and which words of an operator's own. overlays: what is written otherwise.
    redacted: the indices of words whose text stands for what was said (``redaction``).
    replace_marks: whether the labels' marks replace the recogniser's; false where no model punctuated.
    """
    typography = typography_of(lang, french_spaces=overlays.french_spaces)
    if style is Style.VERBATIM:
        said = [_Part(index=i, text=word.text) for i, word in enumerate(words)]
        return _written(_redacted(said, words, redacted, apart=False), words, typography)
    # In a Chinese session a segment said in English from the sentence's start on is written as English.
    if (
        replace_marks
        and typography is CHINESE_TYPOGRAPHY
        and sentence_start
        and written_in_latin([word.text for word in words])
    ):
        typography = ENGLISH_TYPOGRAPHY
    left_in = {"": False, "RM": keep_reparanda, "IM": keep_fillers}
    left_out = cleaning.left_out(words)
    kept = [
        style is Style.MARKED or not out or left_in[kind_of(word.disfluency)]
        for word, out in zip(words, left_out, strict=True)
    ]
    if replace_marks:
        parts = _punctuated(words, kept, typography, sentence_start=sentence_start)
    else:
        parts = [_Part(index=i, text=word.text) for i, word in enumerate(words) if kept[i]]
    parts = _redacted(parts, words, redacted, apart=style is Style.MARKED)
    if overlays:
        parts = _overlaid(parts, words, overlays, lang, apart=style is Style.MARKED, sentence_start=sentence_start)
    if style is Style.MARKED:
        _bracket(parts, words)
    if replace_marks and typography.opens_questions:
        _open_questions(parts, words, typography.opens_questions, sentence_start=sentence_start)
    return _written(parts, words, typography)


def _punctuated(
    words: Sequence[SegmentWord], kept: Sequence[bool], typography: Typography, *, sentence_start: bool
) -> list[_Part]:
    """Choose the words rendered, their capitals, and the mark after each."""
    parts: list[_Part] = []
    starts_sentence, reparandum_left_out = sentence_start, False
    marks = _marks_around(words, kept, sentence_start=sentence_start)
    for index, (word, mark) in enumerate(zip(words, marks, strict=True)):
        text = bare(word.text)
        if kept[index] and text:
            text = _with_capitals(text, _CASINGS[word.casing], typography, starts_sentence=starts_sentence)
            parts.append(_Part(index=index, text=text, mark=mark))
            starts_sentence = reparandum_left_out = False
        else:
            reparandum_left_out |= kind_of(word.disfluency) == "RM" and not kept[index]
            _move_mark(mark, parts, across_reparandum=reparandum_left_out)
        starts_sentence |= mark in _SENTENCE_ENDS
    return parts


def _marks_around(words: Sequence[SegmentWord], kept: Sequence[bool], *, sentence_start: bool) -> list[PunctuationName]:
    """Return the mark of each word, without the two commas around a parenthesis that is left out.

    A sound between commas ("apples, um, pears") is no parenthesis, and a sentence's first word keeps its comma.
    """
    marks = [word.punctuation for word in words]
    for left_out, run in groupby(range(len(words)), key=lambda index: not kept[index]):
        places = list(run)
        before, last = places[0] - 1, places[-1]
        opens = (before == 0 and sentence_start) or (before > 0 and words[before - 1].punctuation in _SENTENCE_ENDS)
        if not left_out or before < 0 or opens or not marks[before] == marks[last] == "comma":
            continue
        said = [words[index] for index in places]
        if all(kind_of(word.disfluency) != "RM" for word in said) and not all(is_sound(word.text) for word in said):
            marks[before] = marks[last] = "none"
    return marks


def _move_mark(mark: PunctuationName, parts: list[_Part], *, across_reparandum: bool) -> None:
    """Move the mark of a word left out to the last word kept, if there is one and its own mark is weaker."""
    if not parts or parts[-1].mark in _SENTENCE_ENDS:
        return
    if mark in _SENTENCE_ENDS or (parts[-1].mark == "none" and not across_reparandum):
        parts[-1].mark = mark


def _with_capitals(text: str, casing: Casing, typography: Typography, *, starts_sentence: bool) -> str:
    """Write a word as its label says, I as the language does, and a sentence's first letter as a capital.

    A word that has capitals then keeps them.
    """
    written = casing_of(text)
    if casing is not Casing.AS_GIVEN and written is not Casing.AS_GIVEN:
        text = mixed_case(text, casing) or cased(text, casing)
    elif written is Casing.SMALL:
        text = mixed_case(text, casing) or text
    if typography.capital_i and _LONE_I.fullmatch(text):
        return "I" + text[1:]
    if not (starts_sentence and typography.sentence_capitals and text == text.lower()):
        return text
    first = next((i for i, char in enumerate(text) if char.isalnum()), 0)
    capital = text[first].title()
    return text[:first] + capital + text[first + 1 :] if len(capital) == 1 else text


def _redacted(
    parts: Sequence[_Part], words: Sequence[SegmentWord], redacted: Collection[int], *, apart: bool
) -> list[_Part]:
    """Make one of the redacted words of a kind that stand side by side. apart: as of ``_overlaid``."""
    if not redacted:
        return list(parts)
    written: list[_Part] = []
    for part in parts:
        before = written[-1] if written else None
        word = words[part.index]
        if part.index not in redacted:
            written.append(part)
        elif (
            before is None
            or before.overlay is None
            or before.mark != "none"
            or before.text != word.text
            or (apart and kind_of(words[before.index].disfluency) != kind_of(word.disfluency))
        ):
            written.append(_Part(index=part.index, text=word.text, mark=part.mark, overlay="redaction"))
        else:
            before.others += (part.index,)
            before.mark = part.mark
    return written


def _overlaid(
    parts: Sequence[_Part],
    words: Sequence[SegmentWord],
    rules: OverlayRules,
    lang: str,
    *,
    apart: bool,
    sentence_start: bool,
) -> list[_Part]:
    """Put overlays in the place of their words. apart: words in brackets are apart from those outside."""
    if not rules.may_apply([words[part.index].text for part in parts], lang):
        return list(parts)
    stretches = _stretches(parts, words, primary_language(lang), sentence_start=sentence_start, apart=apart)
    overlays = {overlay.begin: overlay for overlay in rules.over(stretches, lang)}
    written: list[_Part] = []
    end = 0
    for part in parts:
        if (overlay := overlays.get(part.index)) is not None:
            written.append(_Part(index=part.index, text=overlay.text, mark=part.mark, overlay=overlay.kind))
            end = overlay.end
        elif part.index < end:
            written[-1].others += (part.index,)
            written[-1].mark = part.mark
        else:
            written.append(part)
    return written


def _stretches(
    parts: Sequence[_Part], words: Sequence[SegmentWord], language: str, *, sentence_start: bool, apart: bool
) -> list[Stretch]:
    """Return the words rendered, those of one sentence and, if ``apart``, of one kind of disfluency together."""
    stretches: list[Stretch] = []
    views = [model_view(words[part.index].text) for part in parts]
    kinds = [kind_of(words[part.index].disfluency) if apart else "" for part in parts]
    following: list[str | None] = [None] * len(parts)
    for place in range(len(parts) - 2, -1, -1):
        following[place] = views[place + 1] if kinds[place + 1] != "IM" else following[place + 1]
    first, begins = 0, sentence_start
    for place, part in enumerate(parts):
        ends = part.mark in _SENTENCE_ENDS
        if ends or place == len(parts) - 1 or kinds[place] != kinds[place + 1]:
            run = slice(first, place + 1)
            more = following[place]
            stretches.append(
                Stretch(
                    tuple(other.index for other in parts[run]),
                    tuple(views[run]),
                    tuple(other.mark for other in parts[run]),
                    begins=begins,
                    ends=ends or (more is not None and not _joins_numbers(more, language)),
                )
            )
            before = [view for view, kind in zip(views[run], kinds[run], strict=True) if kind != "IM"]
            first, begins = place + 1, ends or (not _joins_numbers(before[-1], language) if before else begins)
    return stretches


def _joins_numbers(word: str, language: str) -> bool:
    """Tell whether a number may go on over a bracket beside a word."""
    if language in EUROPEAN:
        lexicon = EUROPEAN[language]
        return is_european_number(word, language) or word in lexicon.points or word == lexicon.link
    return is_number_word(word) or word in ("and", "point", "a", "oh", "点")


def _bracket(parts: Sequence[_Part], words: Sequence[SegmentWord]) -> None:
    """Put brackets around each reparandum and braces around each interregnum."""
    group: _Part | None = None
    for part in parts:
        word = words[part.index]
        opens, closes = _BRACKETS.get(kind_of(word.disfluency), ("", ""))
        if group is not None and not word.disfluency.startswith("B") and group.closing == closes:
            group.closing = ""
        else:
            part.opening = opens
        part.closing = closes
        group = part


def _open_questions(parts: Sequence[_Part], words: Sequence[SegmentWord], sign: str, *, sentence_start: bool) -> None:
    """Put a sign before each question whose sentence begins in these parts.

    It stands where the question does: before the clause that begins with an asking word, before a last "no" or
    "verdad", or else before the sentence.
    """
    begin = 0 if sentence_start else len(parts)
    for place, part in enumerate(parts):
        if part.mark not in _SENTENCE_ENDS:
            continue
        said = [at for at in range(begin, place + 1) if not kind_of(words[parts[at].index].disfluency)]
        if part.mark == "question" and said:
            clauses = [at for number, at in enumerate(said) if not number or parts[said[number - 1]].mark == "comma"]
            opening = next((at for at in clauses if _asks([other.text for other in parts[at : at + 2]])), said[0])
            if parts[clauses[-1]].text.casefold() in _TAGS and said[-1] - clauses[-1] < _MOST_TAG_WORDS:
                opening = clauses[-1]
            parts[opening].opening = sign + parts[opening].opening
        begin = place + 1


def _asks(words: Sequence[str]) -> bool:
    """Tell whether a clause begins with an asking word, or with a preposition and one."""
    first, *others = (word.casefold() for word in words)
    return first in _ASKING or (first in _BEFORE_ASKING and not _ASKING.isdisjoint(others))


def _written(parts: Sequence[_Part], words: Sequence[SegmentWord], typography: Typography) -> Rendered:
    """Join the parts with their marks and the language's spaces, and note where each word stands."""
    pieces: list[str] = []
    spans: list[tuple[int, int, int]] = []
    overlays: list[TextOverlay] = []
    end = 0
    for previous, part in zip([None, *parts], parts, strict=False):
        text, mark = _with_one_dot(part.text, "" if part.mark == "none" else typography.marks[part.mark])
        start = end + len(part.opening)
        if previous is not None and _spaced(previous, part, words, typography):
            pieces.append(" ")
            start += 1
        pieces += (part.opening, text, part.closing, mark)
        stop = start + len(text)
        spans += ((index, start, stop) for index in (part.index, *part.others))
        if part.overlay is not None:
            place = TextOverlay(kind=part.overlay, first_word=part.index, last_word=part.last, start=start, end=stop)
            overlays.append(place)
        end = stop + len(part.closing) + len(mark)
    return Rendered(text="".join(pieces), spans=tuple(spans), overlays=tuple(overlays))


def _with_one_dot(text: str, mark: str) -> tuple[str, str]:
    """Return the word and its mark without a second dot: ``U.S.`` ends a sentence as it is."""
    if not mark or not keeps_its_dot(text):
        return text, mark
    if mark == ".":
        return text, ""
    return (text[:-1] if unspaced(mark) else text), mark


def _spaced(previous: _Part, part: _Part, words: Sequence[SegmentWord], typography: Typography) -> bool:
    """Tell whether a space stands between two parts."""
    before, after = words[previous.last], words[part.index]
    if (
        after.piece is not None
        and after.piece.start > 0
        and previous.last == part.index - 1
        and len(previous.text) + len(part.text) == len(before.text) + len(after.text)
        and previous.mark == "none"
    ):
        return False  # two pieces of one unit, with nothing taken off between them
    if typography.spaced:
        return True
    left = previous.text[-1:] if previous.mark == "none" else typography.marks[previous.mark]
    return not unspaced(left) and not unspaced(part.text[:1])
