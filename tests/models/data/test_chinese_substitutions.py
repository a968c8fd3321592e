"""Sentences with other words in them: the slips of the sentence stay slips of the same form."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.models.data.chinese_marks import LabelledUnit, add_turn
from caesura.models.data.chinese_substitutions import Kinds, chinese_kinds, with_other_words
from caesura.schemas.labels import Disfluency

# Two words of each open kind, so that the only other word is known; the pronoun is of no open kind.
KINDS = Kinds(
    [
        ("医院", 5_000, "n"),
        ("公司", 5_000, "n"),
        ("电影院", 300, "n"),
        ("有", 423_765, "v"),
        ("爱", 900, "v"),
        ("我们", 199_672, "r"),
        ("罕事", 3, "n"),
        ("医", 2_000, "n"),
        ("药", 2_000, "n"),
    ]
)
RM, IM = int(Disfluency.B_RM), int(Disfluency.B_IM)


def sentence(*units: tuple[str, int]) -> AlignedDocument:
    document = AlignedDocument("made up", "one")
    add_turn(document, [LabelledUnit(text, UNKNOWN, tag) for text, tag in units])
    return document


def others(document: AlignedDocument, share: float = 1.0) -> AlignedDocument:
    return with_other_words(document, Sure(1), share=share, kinds=KINDS)


class Sure(random.Random):
    """Draws the last of what it may choose from, which of two words is the other one for each of these sentences."""

    def choices(self, population, *args, **kwargs):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN002, ANN003, ANN201, ARG002
        return [population[-1]]


def test_a_word_is_the_same_other_one_all_through_the_sentence() -> None:
    copy = others(sentence(("医院", RM), ("医院", 0), ("有", 0), ("医院", 0)))
    assert copy.words == ["公司", "公司", "有", "公司"]
    assert copy.disfluency == [RM, 0, 0, 0]


def test_what_was_broken_off_is_the_beginning_of_the_other_word() -> None:
    copy = others(sentence(("我们", 0), ("有", 0), ("医", RM), ("医院", 0)))
    assert copy.words == ["我们", "有", "公", "公司"]
    assert copy.disfluency == [0, 0, RM, 0]


def test_a_fluent_word_that_begins_another_is_a_word_of_its_own() -> None:
    assert others(sentence(("医", 0), ("有", 0), ("医院", 0))).words == ["药", "有", "公司"]


def test_a_fragment_without_repair_is_a_word() -> None:
    assert others(sentence(("医", RM), ("我们", 0), ("有", 0))).words == ["药", "我们", "有"]


def test_what_was_broken_off_of_a_word_that_stays_stays() -> None:
    assert others(sentence(("我", RM), ("我们", 0), ("有", 0))).words == ["我", "我们", "有"]


def test_words_of_grammar_fillers_and_the_most_frequent_words_stay() -> None:
    document = sentence(("我们", 0), ("嗯", IM), ("有", 0))
    assert others(document) == document


def test_a_rare_word_is_replaced_and_never_put_in() -> None:
    assert others(sentence(("罕事", 0))).words == ["公司"]
    drawn = {KINDS.another("医院", random.Random(seed)) for seed in range(50)}
    assert drawn == {"医院", "公司"}


def test_a_word_without_another_of_its_kind_and_length_stays() -> None:
    assert others(sentence(("电影院", 0))).words == ["电影院"]
    assert others(sentence(("爱", 0))).words == ["爱"]


def test_a_share_of_zero_substitutes_no_word() -> None:
    assert others(sentence(("医院", RM), ("医院", 0)), share=0.0).words == ["医院", "医院"]


@settings(deadline=None)  # the first example reads the dictionary
@given(st.data())
def test_of_any_sentence_each_character_keeps_its_tag_or_is_in_a_word_of_two(data: st.DataObject) -> None:
    words = st.sampled_from(["医院", "公司", "医", "学校", "我们", "早上", "早", "嗯", "看", "北京", "研究", "就是"])
    said = data.draw(st.lists(st.tuples(words, st.sampled_from([0, 0, RM, IM])), min_size=1, max_size=12))
    document = sentence(*said)
    copy = with_other_words(document, random.Random(data.draw(st.integers(0, 99))), share=0.7, kinds=chinese_kinds())
    assert len("".join(copy.words)) == len("".join(document.words))
    before, after = by_character(document), by_character(copy)
    assert all(one == other or UNKNOWN in (one, other) for one, other in zip(before, after, strict=True))


def by_character(document: AlignedDocument) -> list[str | int]:
    """Return the kind of each character's tag."""
    return [
        tag if tag == UNKNOWN else Disfluency(tag).kind
        for word, tag in zip(document.words, document.disfluency, strict=True)
        for _ in word
    ]
