"""How much the fluent rendering leaves out, and words of one's own."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.segments import DisfluencyTag, SegmentWord
from caesura.worker.core.rendering.cleaning import Cleaning, CleaningLevel, phrases
from caesura.worker.core.rendering.rendering import Style, render

Said = list[tuple[str, DisfluencyTag]]
TALK: Said = [
    ("um", "B-IM"),
    ("we", "B-RM"),
    ("we", "O"),
    ("you", "B-IM"),
    ("know", "I-IM"),
    ("go", "B-RM"),
    ("to", "I-RM"),
    ("uh", "B-IM"),
    ("drive", "O"),
    ("to", "O"),
    ("Boston", "O"),
]


def words_of(said: Said) -> list[SegmentWord]:
    return [SegmentWord(text=text, punctuation="none", disfluency=tag) for text, tag in said]


def rendered(said: Said, cleaning: Cleaning, lang: str = "en") -> str:
    return render(words_of(said), lang, Style.FLUENT, sentence_start=False, cleaning=cleaning).text


@pytest.mark.parametrize(
    ("level", "text"),
    [
        ("off", "um we we you know go to uh drive to Boston"),
        ("light", "we we you know go to drive to Boston"),
        ("medium", "we go to drive to Boston"),
        ("full", "we drive to Boston"),
    ],
)
def test_each_level_leaves_out_what_the_one_before_does_and_more(level: str, text: str) -> None:
    assert rendered(TALK, Cleaning(level=CleaningLevel(level))) == text


def test_a_repeat_is_found_behind_a_filler() -> None:
    said: Said = [("to", "B-RM"), ("the", "I-RM"), ("uh", "B-IM"), ("to", "O"), ("the", "O"), ("depot", "O")]
    assert rendered(said, Cleaning(level=CleaningLevel.MEDIUM)) == "to the depot"


def test_ones_own_fillers_go_and_kept_phrases_stay_whatever_their_label() -> None:
    said: Said = [
        ("so", "O"),
        ("Basically,", "O"),
        ("you", "B-IM"),
        ("know", "I-IM"),
        ("I", "O"),
        ("like", "B-IM"),
        ("it", "O"),
    ]
    own = Cleaning(fillers=phrases(["basically"]), kept=phrases(["I like"]))
    assert rendered(said, own) == "so I like it"
    assert rendered(said, Cleaning(level=CleaningLevel.OFF, fillers=phrases(["basically"]))).startswith("so Basically")


def test_a_sessions_own_are_joined_to_the_operators_and_what_is_kept_wins() -> None:
    said: Said = [("basically", "O"), ("like", "O"), ("um", "B-IM"), ("yes", "O")]
    own = Cleaning(fillers=phrases(["basically"]), kept=phrases(["like"]))
    assert rendered(said, own.joined(("like", "um"), ())) == "like yes"
    assert rendered(said, own.joined((), ("um", "Basically!"))) == "basically like um yes"
    assert own.joined((), ()) is own


def test_a_phrase_is_whole_words_alone() -> None:
    said: Said = [("umbrella", "O"), ("a", "O"), ("lot", "O")]
    assert rendered(said, Cleaning(fillers=phrases(["um", "alot"]))) == "umbrella"


def test_chinese_phrases_are_found_across_words() -> None:
    said: Said = [("就", "O"), ("是", "O"), ("我们", "O"), ("走", "O")]
    assert rendered(said, Cleaning(fillers=phrases(["就是"])), lang="zh") == "我们走"


def test_what_has_no_letter_is_no_phrase() -> None:
    assert phrases([" ", "...", "So, yes"]) == {"soyes"}


_TAGS: list[DisfluencyTag] = ["O", "B-RM", "I-RM", "B-IM", "I-IM"]
_SAID = st.lists(st.tuples(st.sampled_from(["um", "we", "go", "Yes.", "—"]), st.sampled_from(_TAGS)), max_size=12)


@given(said=_SAID, own=st.lists(st.sampled_from(["we", "we go", "um"]), max_size=2))
def test_levels_nest_and_full_is_what_the_labels_say(said: Said, own: list[str]) -> None:
    words = words_of(said)
    out = [Cleaning(level=level, fillers=phrases(own)).left_out(words) for level in CleaningLevel]
    assert not any(out[0])
    for less, more in pairwise(out[1:]):
        assert all(one <= other for one, other in zip(less, more, strict=True))
    assert Cleaning().left_out(words) == [word.disfluency != "O" for word in words]
    assert Cleaning(kept=phrases(text for text, _ in said)).left_out(words).count(True) <= sum(
        text == "—" for text, _ in said
    )
