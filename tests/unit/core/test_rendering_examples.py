"""Rendering, example by example: what a reader of captions or a translator gets."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.segments import (
    CasingName,
    Cause,
    DisfluencyTag,
    ModelRef,
    Piece,
    PunctuationName,
    Segment,
    SegmentWord,
)
from caesura.worker.core.rendering.cleaning import Cleaning, phrases
from caesura.worker.core.rendering.rendering import Rendered, Style, render, render_segment
from caesura.worker.core.rendering.typography import bare, keeps_its_dot
from tests.harness.segments import MODEL, a_segment
from tests.unit.core.tagged_lines import words_of


def rendered(line: str, style: Style, lang: str = "en", *, sentence_start: bool = True) -> str:
    return render(words_of(line), lang, style, sentence_start=sentence_start).text


def fluent(line: str, lang: str = "en", *, sentence_start: bool = True) -> str:
    return rendered(line, Style.FLUENT, lang, sentence_start=sentence_start)


REPAIR = "i want a flight to|RM boston|,|rm um|,|IM to denver|."


def test_fluent_leaves_out_a_repair_its_filler_and_the_commas_around_them() -> None:
    assert fluent(REPAIR) == "I want a flight to denver."


def test_marked_shows_reparandum_in_brackets_and_filler_in_braces() -> None:
    assert rendered(REPAIR, Style.MARKED) == "I want a flight [to boston], {um}, to denver."


def test_verbatim_is_what_the_recogniser_said_and_nothing_else() -> None:
    assert rendered("Well,|,|IM i WENT|. home.|.", Style.VERBATIM) == "Well, i WENT home."


@pytest.mark.parametrize(
    ("fillers", "reparanda", "text"),
    [
        (True, False, "I want a flight um, to denver."),
        (False, True, "I want a flight to boston, to denver."),
        (True, True, "I want a flight to boston, um, to denver."),
    ],
)
def test_fillers_and_reparanda_are_kept_separately_or_both(*, fillers: bool, reparanda: bool, text: str) -> None:
    kept = render(
        words_of(REPAIR), "en", Style.FLUENT, sentence_start=True, keep_fillers=fillers, keep_reparanda=reparanda
    )
    assert kept.text == text


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("um|IM the train is late|.", "The train is late."),
        ("the train is late|. uh|IM it often is|.", "The train is late. It often is."),
        ("um|,|IM uh|,|IM", ""),
        ("um|.|IM we left|.", "We left."),
        ("we left you|IM know|.|im", "We left."),
        ("we left|, you|IM know|.|im", "We left."),
        ("we left|. right|?|IM then we came|.", "We left. Then we came."),
        ("when you come|none um|,|IM we go", "When you come, we go"),
        ("the|RM the house", "The house"),
    ],
)
def test_a_mark_left_without_its_word_moves_back_and_never_doubles_or_leads(line: str, text: str) -> None:
    assert fluent(line) == text


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("she lives in the U.S.|.", "She lives in the U.S."),
        ("she lives in the U.S|.", "She lives in the U.S."),
        ("in the U.S.|, yes|.", "In the U.S., yes."),
        ("at 5 p.m. dr. Lee|, Ph.D.|, came|.", "At 5 p.m. dr. Lee, Ph.D., came."),
        ("it rose 3.5|. percent", "It rose 3.5. Percent"),
        ("it rose 3.5% to $1,000|.", "It rose 3.5% to $1,000."),
        ("by .5 or 10:30|.", "By .5 or 10:30."),
        ("don't say gonna|.", "Don't say gonna."),
        ("C++ C# .NET R&D|.", "C++ C# .NET R&D."),
        ("and i think i'm right i’ll say|.", "And I think I'm right I’ll say."),
        ("iPhone users love eBay|.", "iPhone users love eBay."),
        ("3rd of may|.", "3rd of may."),
        ("Hello, How are you?|? fine!|.", "Hello How are you? Fine."),
        ("wait... what?!|?", "Wait what?"),
        ('"well," she said|.', '"Well" she said.'),
        ("dogs' tails|.", "Dogs' tails."),
        ("red|、 green blue|.", "Red, green blue."),
        ("hello ,|, there|.", "Hello, there."),
        ("an x-ray - or th- the scan|.", "An x-ray - or th- the scan."),
    ],
)
def test_english_words_come_out_as_english_is_written(line: str, text: str) -> None:
    assert fluent(line) == text


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("the roof is|, you|IM know|,|im a wreck|.", "The roof is a wreck."),
        ("the roof leaks|, um|,|IM and drips|.", "The roof leaks, and drips."),
        ("however|, you|IM know|,|im it leaks|.", "However, it leaks."),
        ("the roof is|, you|IM know|im a wreck|.", "The roof is, a wreck."),
        ("it leaks|. well|, you|IM know|,|im often|.", "It leaks. Well, often."),
    ],
)
def test_a_parenthesis_that_is_left_out_takes_both_its_commas(line: str, text: str) -> None:
    assert fluent(line) == text


def test_own_fillers_between_commas_take_both_too() -> None:
    words = words_of("the roof is|, frankly speaking|, a wreck|.")
    cleaning = Cleaning(fillers=phrases(("frankly speaking",)))
    assert render(words, "en", Style.FLUENT, sentence_start=True, cleaning=cleaning).text == "The roof is a wreck."


@pytest.mark.parametrize(
    ("lang", "sentence_start", "line", "text"),
    [
        ("en", False, "and then home|.", "and then home."),
        ("zh", True, "thank you|, i am fine|.", "Thank you, I am fine."),
        ("zh", False, "iPhone|.", "iPhone。"),
        ("en", True, "we saw 北京 today|.", "We saw 北京 today."),
        ("de-AT", True, "um i zu gehen|.", "Um i zu gehen."),
        ("ja", True, "はい|, そう です|.", "はい、そうです。"),
        ("en", False, "then|small i|small and|small i'm|small", "then I and I'm"),
        ("zh", True, "我们|small 用 github|Capital 和|small api|ALL 。", "我们用GitHub和API"),
        ("en", True, "so|small we|small left|.|small then|small anna|Capital", "So we left. Then Anna"),
        ("en", False, "so|small we|small left|small", "so we left"),
        (
            "en",
            True,
            "i told|small Him|small to|small use|small HIS|small iphone|small",
            "I told him to use his iPhone",
        ),
        ("en", True, "my|small iPhone|Capital and|small O'Brien|small", "My iPhone and O'Brien"),
        ("en", True, "my Friend|small said|as_given NASA", "My friend said NASA"),
        (
            "en",
            True,
            "a phd|ALL from o'neill|Capital with two iphones|small at ten o'clock|small",
            "A PhD from O'Neill with two iPhones at ten o'clock",
        ),
    ],
)
def test_capitals_and_joints_follow_language_casing_and_place(
    lang: str, sentence_start: bool, line: str, text: str
) -> None:
    assert fluent(line, lang, sentence_start=sentence_start) == text


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("我|, 喜欢 苹果|、 梨|。 吗|?", "我，喜欢苹果、梨吗？"),
        ("今天 很 好|.", "今天很好。"),
        ("你好， 吗？|?", "你好吗？"),
        ("嗯|,|IM 我|RM 我 想 去|.", "我想去。"),
        ("我 用 iPhone 打 New York 的 电话|.", "我用iPhone打New York的电话。"),
        ("我 有 OK|, fine|.", "我有OK，fine。"),
        ("涨 了 3.5% 。", "涨了3.5%"),
        ("他 在 U.S.|.", "他在U.S。"),
        ("2024 年|.", "2024年。"),
    ],
)
def test_chinese_takes_full_width_marks_and_spaces_between_latin_words_only(line: str, text: str) -> None:
    assert fluent(line, "zh-CN") == text


def test_chinese_marked_has_no_spaces_around_its_brackets() -> None:
    assert rendered("嗯|,|IM 我|RM 我 想|.", Style.MARKED, "zh") == "{嗯}，[我]我想。"


def test_verbatim_chinese_keeps_the_recognisers_marks() -> None:
    assert rendered("你好，|, OK, fine 吗？", Style.VERBATIM, "cmn-Hans") == "你好，OK, fine吗？"


def test_pieces_of_one_unit_are_joined_as_the_recogniser_sent_them() -> None:
    words = [
        SegmentWord(text="iPhone", punctuation="none", disfluency="O", piece=Piece(start=0, of=8)),
        SegmentWord(text="手机", punctuation="none", disfluency="O", piece=Piece(start=6, of=8)),
        SegmentWord(text="good，", punctuation="none", disfluency="O", piece=Piece(start=0, of=9)),
        SegmentWord(text="bye!", punctuation="none", disfluency="O", piece=Piece(start=5, of=9)),
    ]
    assert render(words, "zh", Style.VERBATIM, sentence_start=True).text == "iPhone手机good，bye!"
    assert render(words, "zh", Style.FLUENT, sentence_start=True).text == "iPhone手机good bye"


def test_spans_count_code_points_of_the_words_alone() -> None:
    words = words_of("𠮷野|,|IM uh|IM OK|. 我们|?")
    assert render(words, "zh", Style.MARKED, sentence_start=False) == Rendered(
        text="{𠮷野}，{uh} OK。我们？", spans=((0, 1, 3), (1, 6, 8), (2, 10, 12), (3, 13, 15))
    )


def segment_of(line: str, *, lang: str = "en", model: ModelRef | None = None, punctuated: bool = True) -> Segment:
    return a_segment(words_of(line), cause=Cause.SILENCE, lang=lang, model=model, punctuated=punctuated)


def test_without_a_model_the_recognisers_own_marks_and_capitals_stay() -> None:
    assert render_segment(segment_of("bonjour, madame !", lang="fr"), Style.FLUENT).text == "bonjour, madame !"


def test_without_punctuation_the_recognisers_marks_stay() -> None:
    segment = segment_of("uh,|IM well, yes.", model=MODEL, punctuated=False)
    assert render_segment(segment, Style.FLUENT).text == "well, yes."
    assert render_segment(segment, Style.MARKED).text == "{uh,} well, yes."


def test_with_a_model_a_segment_is_rendered_with_its_marks() -> None:
    segment = segment_of("uh|IM yes!|.", model=ModelRef(id="m", version="1"))
    assert render_segment(segment, Style.FLUENT).text == "Yes."
    assert render_segment(segment, Style.FLUENT, keep_fillers=True).text == "Uh yes."


def test_no_words_render_as_empty_text() -> None:
    assert render([], "en", Style.FLUENT, sentence_start=True) == Rendered(text="", spans=())


NAMES = "on|small friday|Capital anna|RM|Capital uh|IM|small miller|Capital of|small the|small bbc|ALL called|.|small"


def test_fluent_and_marked_write_words_as_their_casing_says_and_verbatim_never() -> None:
    assert fluent(NAMES) == "On Friday Miller of the BBC called."
    assert rendered(NAMES, Style.MARKED) == "On Friday [Anna] {uh} Miller of the BBC called."
    assert rendered(NAMES, Style.VERBATIM) == "on friday anna uh miller of the bbc called"


def test_without_a_punctuating_model_casing_changes_nothing() -> None:
    words = words_of("on|small friday|Capital")
    assert render(words, "en", Style.FLUENT, sentence_start=True, replace_marks=False).text == "on friday"


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
def test_verbatim_is_every_word_and_fluent_those_outside_disfluencies_with_their_ends(
    words: list[SegmentWord], lang: str, start: bool
) -> None:
    rendered = render(words, lang, Style.VERBATIM, sentence_start=start)
    assert [rendered.text[a:b] for _, a, b in rendered.spans] == [word.text for word in words]
    assert rendered.text.replace(" ", "") == "".join(word.text for word in words)
    if lang in ("en", "de"):
        assert rendered.text == " ".join(word.text for word in words)

    fluent = render(words, lang, Style.FLUENT, sentence_start=start)
    kept = [index for index, _, _ in fluent.spans]
    assert kept == [i for i, word in enumerate(words) if word.disfluency == "O" and bare(word.text)]
    closing = {index: fluent.text[end - 1 : end + 1] for index, _, end in fluent.spans}  # "U.S." ends by itself
    for index, word in enumerate(words):
        if word.punctuation in {"period", "question"} and any(k <= index for k in kept):
            assert set(closing[max(k for k in kept if k <= index)]) & set(".?。？"), "its sentence's end is lost"


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
    assert "  " not in rendered.text
    assert rendered.text == rendered.text.strip(" ")


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


@given(FLUENT_WORDS, LANG, st.booleans())
def test_fluent_of_words_without_disfluencies_is_what_marked_shows(
    words: list[SegmentWord], lang: str, start: bool
) -> None:
    fluent = render(words, lang, Style.FLUENT, sentence_start=start)
    assert fluent == render(words, lang, Style.MARKED, sentence_start=start)
    assert [index for index, _, _ in fluent.spans] == [i for i, word in enumerate(words) if bare(word.text)]


@given(TEXT)
def test_baring_a_word_only_takes_characters_off_and_twice_changes_nothing(text: str) -> None:
    assert bare(bare(text)) == bare(text)
    assert is_subsequence(bare(text), text)


@given(FLUENT_WORDS, LANG, st.booleans())
def test_without_labels_and_model_every_style_is_verbatim(words: list[SegmentWord], lang: str, start: bool) -> None:
    styles = [render(words, lang, style, sentence_start=start, replace_marks=False) for style in Style]
    assert all(a == b for a, b in pairwise(styles))
