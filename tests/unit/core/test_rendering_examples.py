"""Rendering, example by example: what a reader of captions or a translator gets."""

from __future__ import annotations

import pytest

from caesura.schemas.segments import (
    Cause,
    ModelRef,
    Piece,
    Segment,
    SegmentWord,
)
from caesura.worker.core.rendering.cleaning import Cleaning, phrases
from caesura.worker.core.rendering.rendering import Rendered, Style, render, render_segment
from tests.harness.segments import MODEL, a_segment
from tests.unit.core.labelled_lines import words_of


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


def test_fillers_and_reparanda_are_kept_separately() -> None:
    words = words_of(REPAIR)
    fillers = render(words, "en", Style.FLUENT, sentence_start=True, keep_fillers=True)
    reparanda = render(words, "en", Style.FLUENT, sentence_start=True, keep_reparanda=True)
    assert fillers.text == "I want a flight um, to denver."
    assert reparanda.text == "I want a flight to boston, to denver."


def test_with_both_kept_fluent_is_the_punctuated_words() -> None:
    both = render(words_of(REPAIR), "en", Style.FLUENT, sentence_start=True, keep_fillers=True, keep_reparanda=True)
    assert both.text == "I want a flight to boston, um, to denver."


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


def test_known_spellings_and_names_have_their_capitals() -> None:
    line = "a phd|ALL from o'neill|Capital with two iphones|small at ten o'clock|small"
    assert fluent(line) == "A PhD from O'Neill with two iPhones at ten o'clock"


def test_a_segment_that_continues_a_sentence_gets_no_capital() -> None:
    assert fluent("and then home|.", sentence_start=False) == "and then home."


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


def test_english_said_in_a_chinese_session_gets_english_marks_and_capitals() -> None:
    assert fluent("thank you|, i am fine|.", "zh") == "Thank you, I am fine."


def test_a_latin_word_that_continues_a_chinese_sentence_keeps_chinese_marks() -> None:
    assert fluent("iPhone|.", "zh", sentence_start=False) == "iPhone。"


def test_chinese_said_in_an_english_session_is_joined_as_english_is() -> None:
    assert fluent("we saw 北京 today|.") == "We saw 北京 today."


def test_german_has_sentence_capitals_and_no_english_i() -> None:
    assert fluent("um i zu gehen|.", "de-AT") == "Um i zu gehen."


def test_japanese_is_joined_without_spaces() -> None:
    assert fluent("はい|, そう です|.", "ja") == "はい、そうです。"


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


def test_where_a_session_wants_no_marks_of_ours_the_recognisers_stay_and_disfluencies_go() -> None:
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


def test_the_capital_of_a_sentences_start_is_the_renderings_own() -> None:
    assert fluent("so|small we|small left|.|small then|small anna|Capital") == "So we left. Then Anna"
    assert fluent("so|small we|small left|small", sentence_start=False) == "so we left"


def test_capitals_of_a_recognisers_own_make_way_for_the_label_but_a_spelling_of_its_own_stays() -> None:
    assert fluent("i told|small Him|small to|small use|small HIS|small iphone|small") == "I told him to use his iPhone"
    assert fluent("my|small iPhone|Capital and|small O'Brien|small") == "My iPhone and O'Brien"
    assert fluent("my Friend|small said|as_given NASA") == "My friend said NASA"


def test_i_and_its_kin_are_capital_whatever_the_label_says() -> None:
    assert fluent("then|small i|small and|small i'm|small", sentence_start=False) == "then I and I'm"


def test_latin_words_in_chinese_are_written_as_their_casing_says() -> None:
    assert fluent("我们|small 用 github|Capital 和|small api|ALL 。", "zh") == "我们用GitHub和API"


def test_where_no_model_punctuated_a_casing_changes_nothing() -> None:
    words = words_of("on|small friday|Capital")
    assert render(words, "en", Style.FLUENT, sentence_start=True, replace_marks=False).text == "on friday"
