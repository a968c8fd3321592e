"""The case of a word: read from a text, given to a text, and what stays as it is."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.labels import Casing, Disfluency, Punctuation
from caesura.schemas.segments import CasingName, DisfluencyTag, PunctuationName
from caesura.worker.core.language.casing import cased, casing_of, mixed_case

TEXTS = st.text(max_size=10) | st.sampled_from(["ß", "ŉ", "ǆ", "İ", "ﬁ", "o'brien", "U.S.", "3d", "x-ray", "北京a"])


def test_the_published_names_are_the_labels_in_their_order() -> None:
    assert get_args(CasingName) == tuple(casing.published for casing in Casing)
    assert get_args(PunctuationName) == tuple(mark.published for mark in Punctuation)
    assert get_args(DisfluencyTag) == tuple(tag.published for tag in Disfluency)


@pytest.mark.parametrize(
    ("text", "casing"),
    [
        ("friday", Casing.SMALL),
        ("don't", Casing.SMALL),
        ("Friday", Casing.CAPITAL_FIRST),
        ("I", Casing.CAPITAL_FIRST),
        ("I'm", Casing.CAPITAL_FIRST),
        ("B12", Casing.CAPITAL_FIRST),
        ('"Yes,"', Casing.CAPITAL_FIRST),
        ("BBC", Casing.ALL_CAPITALS),
        ("U.S.", Casing.ALL_CAPITALS),
        ("MP3", Casing.ALL_CAPITALS),
        ("iPhone", Casing.AS_GIVEN),
        ("O'Brien", Casing.AS_GIVEN),
        ("TVs", Casing.AS_GIVEN),
        ("1,000", None),
        ("北京", None),
        ("", None),
    ],
)
def test_the_case_of_a_text_is_that_of_its_letters(text: str, casing: Casing | None) -> None:
    assert casing_of(text) is casing


@given(TEXTS, st.sampled_from(Casing))
def test_writing_in_a_case_changes_nothing_but_case_and_twice_as_once(text: str, casing: Casing) -> None:
    own = casing_of(text)
    assert own is None or cased(text, own) == text
    once = cased(text, casing)
    assert len(once) == len(text)
    assert cased(once, casing) == once
    spelling = mixed_case(text, casing)
    assert spelling is None or spelling.casefold() == text.casefold()


@given(st.text(st.characters(min_codepoint=97, max_codepoint=122), min_size=2, max_size=8), st.sampled_from(Casing))
def test_a_small_word_written_in_a_case_is_read_as_of_that_case(word: str, casing: Casing) -> None:
    assert casing_of(cased(word, casing)) is (Casing.SMALL if casing is Casing.AS_GIVEN else casing)


@pytest.mark.parametrize(
    ("text", "casing", "spelling"),
    [
        ("phd", Casing.SMALL, "PhD"),
        ("PHDS", Casing.ALL_CAPITALS, "PhDs"),
        ("iphone's", Casing.CAPITAL_FIRST, "iPhone's"),
        ("o'neill", Casing.CAPITAL_FIRST, "O'Neill"),
        ("o’neill", Casing.AS_GIVEN, "O’Neill"),
        ("mckay's", Casing.CAPITAL_FIRST, "McKay's"),
        ("ceos", Casing.SMALL, "CEOs"),
        ("DVDS", Casing.ALL_CAPITALS, "DVDs"),
        ("youtubers", Casing.SMALL, "YouTubers"),
        ("apis", Casing.SMALL, "APIs"),
        ("yous", Casing.SMALL, None),
        ("o'clock", Casing.AS_GIVEN, None),
        ("mckay", Casing.SMALL, None),
        ("mc", Casing.CAPITAL_FIRST, None),
        ("phone", Casing.CAPITAL_FIRST, None),
    ],
)
def test_a_spelling_with_capitals_inside(text: str, casing: Casing, spelling: str | None) -> None:
    assert mixed_case(text, casing) == spelling
