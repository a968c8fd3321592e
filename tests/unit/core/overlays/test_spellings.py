"""Spellings of one's own: found whole words alone, however they are cut and cased, and never over a sentence's end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.segments import NumberForm, PunctuationName, SegmentWord
from caesura.worker.core.overlays.rules import OverlayRules
from caesura.worker.core.overlays.spellings import Spellings
from caesura.worker.core.rendering.rendering import Style, render

_MARKS: dict[str, PunctuationName] = {".": "period", ",": "comma"}
_OWN = Spellings(
    {"kubernetes": "Kubernetes", "post gres": "PostgreSQL", "post gres queue l": "Postgres queue", "i os": "iOS"}
)


def written(line: str, spellings: Spellings = _OWN, lang: str = "en") -> str:
    words = [
        SegmentWord(text=word.rstrip(".,"), punctuation=_MARKS.get(word[-1], "none"), disfluency="O")
        for word in line.split()
    ]
    return render(words, lang, Style.FLUENT, sentence_start=True, overlays=OverlayRules(spellings=spellings)).text


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("we run kubernetes.", "We run Kubernetes."),
        ("KUBERNETES runs post gres, and postgres.", "Kubernetes runs PostgreSQL, and PostgreSQL."),
        ("post gres queue l", "Postgres queue"),
        ("i os is fine.", "iOS is fine."),
        ("write a post. gres is one.", "Write a post. Gres is one."),
        ("the post gresham sent", "The post gresham sent"),
        ("compost gres", "Compost gres"),
    ],
)
def test_what_is_spelled(line: str, expected: str) -> None:
    assert written(line) == expected


def test_chinese_is_spelled_however_its_words_are_cut() -> None:
    own = Spellings({"阿里云": "阿里雲"})
    assert written("我们 用 阿里 云 服务", own, "zh") == written("我们 用 阿里云 服务", own, "zh") == "我们用阿里雲服务"


def test_a_spelling_goes_before_a_number_and_a_sessions_before_the_operators() -> None:
    rules = OverlayRules(numbers=NumberForm.DIGITS, spellings=Spellings({"area fifty one": "AREA-51"}))
    words = [
        SegmentWord(text=word, punctuation="none", disfluency="O")
        for word in ["see", "area", "fifty", "one", "at", "ten", "pm"]
    ]

    def shown(rules: OverlayRules) -> str:
        return render(words, "en", Style.FLUENT, sentence_start=True, overlays=rules).text

    assert shown(rules) == "See AREA-51 at 10 PM"
    assert shown(rules.joined(NumberForm.WORDS, {"Area Fifty-One": "Area 51"})) == "See Area 51 at 10 PM"


def test_symbols_alone_never_match() -> None:
    assert not Spellings({"...": "dots", "": "nothing"})


@given(st.lists(st.sampled_from(["post", "gres", "queue", "l", "i", "os", "kubernetes", "um"]), max_size=8))
def test_every_word_is_spelled_or_stays(said: list[str]) -> None:
    words = [SegmentWord(text=word, punctuation="none", disfluency="O") for word in said]
    found = render(words, "en", Style.FLUENT, sentence_start=False, overlays=OverlayRules(spellings=_OWN))

    spelled = {
        index: overlay for overlay in found.overlays for index in range(overlay.first_word, overlay.last_word + 1)
    }
    assert [index for index, _, _ in found.spans] == list(range(len(said)))
    for index, begin, end in found.spans:
        text = found.text[begin:end]
        assert text in _OWN.written.values() if index in spelled else text.casefold() == said[index]
