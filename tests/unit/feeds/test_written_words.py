"""Words without the marks around them."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.feeds.written_words import is_mark, unmarked


@given(text=st.text(alphabet="aß1_%$!?.,' ♪é你\n", max_size=12))
def test_marks_are_taken_off_both_ends_and_nothing_else(text: str) -> None:
    kept = r"[\w%$€£#@&+]"
    between = re.fullmatch(rf"(?s).*?({kept}.*{kept}|{kept}).*?", text)
    assert unmarked(text) == ("" if is_mark(text) or between is None else between[1])


def test_a_word_with_a_million_marks_within_stays_as_it_is() -> None:
    word = "a" + "!" * 1_000_000 + "a"  # a search that begins again at each mark would not come to an end
    assert unmarked(f"({word})") == word


def test_a_sign_that_is_written_behind_a_letter_is_no_mark() -> None:
    said = "สวัสดี, है। cafe\N{COMBINING ACUTE ACCENT}!"
    assert [unmarked(word) for word in said.split()] == ["สวัสดี", "है", "cafe\N{COMBINING ACUTE ACCENT}"]
