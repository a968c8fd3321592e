"""Rendering, for any words and labels: conservation, spans, and marks that never double."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.segments import CasingName, DisfluencyTag, PunctuationName, SegmentWord
from caesura.worker.core.rendering.rendering import Style, render
from caesura.worker.core.rendering.typography import bare, keeps_its_dot

TAGS: tuple[DisfluencyTag, ...] = get_args(DisfluencyTag)
MARKS: tuple[PunctuationName, ...] = get_args(PunctuationName)
CASINGS: tuple[CasingName, ...] = get_args(CasingName)
ANY_TEXT = st.text(st.characters(exclude_categories=("Z", "C")), min_size=1, max_size=8)
ENGLISH_WORDS = ["i", "I'm", "um", "U.S.", "3.5", "don't", "iPhone", "ok,", "Yes!", '"so', "...", "?", "p.m.", "1,000"]
ODD_WORDS = ["x-ray", "th-", "(ja)", "¿qué", "mr.", "ß", "ǆ", 'no,"', '"."x', "'.5", "北京", "我，", "。", "𠮷", "AA制"]
SPOKEN = st.sampled_from([*ENGLISH_WORDS, *ODD_WORDS])
TEXT = SPOKEN | ANY_TEXT
LANG = st.sampled_from(["en", "en-GB", "zh", "cmn-Hans-CN", "de", "es", "fr", "ja", "th"])
STYLE = st.sampled_from(Style)


def words_with(
    tags: st.SearchStrategy[DisfluencyTag], text: st.SearchStrategy[str]
) -> st.SearchStrategy[list[SegmentWord]]:
    marks, casings = st.sampled_from(MARKS), st.sampled_from(CASINGS)
    word = st.builds(SegmentWord, text=text, punctuation=marks, disfluency=tags, casing=casings)
    return st.lists(word, max_size=12)


WORDS = words_with(st.sampled_from(TAGS), TEXT)
FLUENT_WORDS = words_with(st.just("O"), TEXT)


def uncased(text: str) -> str:
    """Return the text without case: the dotless i has the capital of the dotted one, and falls to another letter."""
    return text.upper().casefold()


def is_subsequence(part: str, whole: str) -> bool:
    characters = iter(whole)
    return all(char in characters for char in part)


@given(WORDS, LANG, st.booleans())
def test_verbatim_gives_every_word_back_byte_for_byte(words: list[SegmentWord], lang: str, start: bool) -> None:
    rendered = render(words, lang, Style.VERBATIM, sentence_start=start)
    assert [rendered.text[a:b] for _, a, b in rendered.spans] == [word.text for word in words]
    assert rendered.text.replace(" ", "") == "".join(word.text for word in words)


@given(WORDS, st.sampled_from(["en", "de"]))
def test_verbatim_joins_a_spaced_language_with_single_spaces(words: list[SegmentWord], lang: str) -> None:
    assert render(words, lang, Style.VERBATIM, sentence_start=True).text == " ".join(word.text for word in words)


@given(WORDS, LANG, STYLE, st.booleans(), st.booleans(), st.booleans(), st.booleans())
def test_spans_hold_the_words_in_order_and_all_else_is_marks_and_spaces(
    words: list[SegmentWord], lang: str, style: Style, start: bool, fillers: bool, reparanda: bool, marks: bool
) -> None:
    rendered = render(
        words, lang, style, sentence_start=start, keep_fillers=fillers, keep_reparanda=reparanda, replace_marks=marks
    )
    position, outside = 0, ""
    for index, begin, end in rendered.spans:
        assert position <= begin < end
        assert is_subsequence(uncased(rendered.text[begin:end]), uncased(words[index].text))
        outside += rendered.text[position:begin]
        position = end
    outside += rendered.text[position:]
    assert [index for index, _, _ in rendered.spans] == sorted({index for index, _, _ in rendered.spans})
    assert set(outside) <= set(" ,.?¿，。？、[]{}" if style is Style.MARKED else " ,.?¿，。？、")


@given(WORDS, LANG, st.sampled_from([Style.MARKED, Style.FLUENT]), st.booleans())
def test_marks_of_ours_are_never_doubled_and_never_lead(
    words: list[SegmentWord], lang: str, style: Style, start: bool
) -> None:
    rendered = render(words, lang, style, sentence_start=start)
    ends = [0, *(end for _, _, end in rendered.spans)]
    begins = [*(begin for _, begin, _ in rendered.spans), len(rendered.text)]
    between = [rendered.text[end:begin] for end, begin in zip(ends, begins, strict=True)]
    assert not re.search("[,.?，。？、]", between[0])
    for gap in between[1:]:
        assert re.fullmatch(r"[\]}]?[,.?，。？、]? ?¿?[\[{]?", gap)
    for _, begin, end in rendered.spans:
        said, follows = rendered.text[begin:end], rendered.text[end : end + 1]
        assert not (said[-1] in ".,?，。？、" and follows and follows in "。.，、？,?") or (
            keeps_its_dot(said) and follows in (",", "?")
        )


@given(WORDS, LANG, STYLE, st.booleans())
def test_there_is_never_a_doubled_or_outer_space(
    words: list[SegmentWord], lang: str, style: Style, start: bool
) -> None:
    text = render(words, lang, style, sentence_start=start).text
    assert "  " not in text
    assert text == text.strip(" ")


@given(FLUENT_WORDS, LANG, st.booleans())
def test_fluent_of_words_without_disfluencies_is_what_marked_shows(
    words: list[SegmentWord], lang: str, start: bool
) -> None:
    fluent = render(words, lang, Style.FLUENT, sentence_start=start)
    assert fluent == render(words, lang, Style.MARKED, sentence_start=start)
    assert [index for index, _, _ in fluent.spans] == [i for i, word in enumerate(words) if bare(word.text)]


@given(WORDS, LANG, st.booleans())
def test_fluent_keeps_exactly_the_words_outside_disfluencies(words: list[SegmentWord], lang: str, start: bool) -> None:
    spans = render(words, lang, Style.FLUENT, sentence_start=start).spans
    assert [i for i, _, _ in spans] == [i for i, word in enumerate(words) if word.disfluency == "O" and bare(word.text)]


@given(WORDS, LANG, st.booleans())
def test_a_sentence_ending_mark_is_lost_only_where_no_word_is_kept_before_it(
    words: list[SegmentWord], lang: str, start: bool
) -> None:
    rendered = render(words, lang, Style.FLUENT, sentence_start=start)
    kept = [index for index, _, _ in rendered.spans]
    closing = {index: rendered.text[end - 1 : end + 1] for index, _, end in rendered.spans}  # "U.S." ends by itself
    for index, word in enumerate(words):
        if word.punctuation in {"period", "question"} and any(k <= index for k in kept):
            assert set(closing[max(k for k in kept if k <= index)]) & set(".?。？")


@given(TEXT)
def test_baring_a_word_only_takes_characters_off_and_twice_changes_nothing(text: str) -> None:
    assert bare(bare(text)) == bare(text)
    assert is_subsequence(bare(text), text)


@given(FLUENT_WORDS, LANG, st.booleans())
def test_without_labels_and_model_every_style_is_verbatim(words: list[SegmentWord], lang: str, start: bool) -> None:
    styles = [render(words, lang, style, sentence_start=start, replace_marks=False) for style in Style]
    assert all(a == b for a, b in pairwise(styles))
