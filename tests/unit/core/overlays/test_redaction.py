"""Redaction: what is found, at every cut of a segment, and that words, text and spans agree."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.segments import Segment, SegmentWord
from caesura.worker.core.overlays.redaction import Around, Redacted, Redaction
from caesura.worker.core.rendering.rendering import Style, render_segment
from tests.harness.segments import timed_segment
from tests.unit.core.spoken import UNITS

_NAMES = ("Anna Maria Schmidt", "Zwiesel", "王小明")
_ALL = Redaction(kinds=frozenset(Redacted), names=_NAMES)


def redacted(line: str, *kinds: Redacted, whole: bool = True, lang: str = "en") -> str:
    """Return a session's words, or some from its middle, each redacted one as what stands for it."""
    words = [SegmentWord(text=word, punctuation="none", disfluency="O") for word in line.split()]
    found = Redaction(kinds=frozenset(kinds or Redacted), names=_NAMES).found(
        words, Around(begins=whole, ends=whole), lang
    )
    return " ".join(found.get(at, word.text) for at, word in enumerate(words))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ring five five five please", "ring [NUMBER] [NUMBER] [NUMBER] please"),
        ("ring five um five please", "ring [NUMBER] um [NUMBER] please"),
        ("on august fourth two thousand", "on august [NUMBER] [NUMBER] [NUMBER]"),
        ("it was 4,200.50 or so", "it was [NUMBER] or so"),
        ("one of them has two dogs", "one of them has two dogs"),
        ("a double espresso oh no", "a double espresso oh no"),
        ("code oh double seven", "code [NUMBER] [NUMBER] [NUMBER]"),
        ("extension double five", "extension [NUMBER] [NUMBER]"),
        ("the first of all", "the first of all"),
        ("it is five won two to three", "it is" + " [NUMBER]" * 5),
        ("zero seven niner niner", "[NUMBER] [NUMBER] [NUMBER] [NUMBER]"),
        ("aught five quadruple four", "[NUMBER] [NUMBER] [NUMBER] [NUMBER]"),
        ("call five five five for help", "call [NUMBER] [NUMBER] [NUMBER] for help"),
        ("from two to three", "from [NUMBER] to [NUMBER]"),
        ("电话 是 一三八零零 谢谢", "电话 是 [NUMBER] 谢谢"),
        ("我们 一起 走 给 我 一个", "我们 一起 走 给 我 一个"),
    ],
)
def test_numbers(line: str, expected: str) -> None:
    assert redacted(line, Redacted.NUMBERS) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("write to ada dot king at example dot com now", "write to " + "[EMAIL] " * 7 + "now"),
        ("it is a d a at example dot co dot uk", "it is " + "[EMAIL] " * 9),
        ("my address is ada at example.com", "my address is [EMAIL] [EMAIL] [EMAIL]"),
        ("ada@example.com wrote", "[EMAIL] wrote"),
        ("my gmail is ada underscore king at gmail", "my gmail is " + "[EMAIL] " * 5),
        ("look at the dog at home", "look at the dog at home"),
        ("ada at example dot museum", "[EMAIL] [EMAIL] [EMAIL] [EMAIL] [EMAIL]"),
        ("ada at example period com", "[EMAIL] [EMAIL] [EMAIL] [EMAIL] [EMAIL]"),
        ("ada at e x a m p l e dot com", "[EMAIL] " * 11),
        ("ada[at]example[dot]com wrote", "[EMAIL] wrote"),
        ("look at the dot over there", "look at the dot over there"),
        ("at the end of the period communists ruled", "at the end of the period communists ruled"),
        ("at the end of the day", "at the end of the day"),
    ],
)
def test_emails(line: str, expected: str) -> None:
    assert redacted(line, Redacted.EMAILS) == expected.strip()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("spelled s m i t h right", "spelled " + "[LETTERS] " * 5 + "right"),
        ("b as in bravo o for oscar", "[LETTERS] " * 7),
        ("that is k a double t y", "that is " + "[LETTERS] " * 5),
        ("it is double l o y d", "it is " + "[LETTERS] " * 5),
        ("b like bravo m as mike", "[LETTERS] " * 6),
        ("sierra mike india", "[LETTERS] [LETTERS] [LETTERS]"),
        ("j-o-n-e-s or J.O.N.E.S.", "[LETTERS] or [LETTERS]"),
        ("mike had vitamin c as well in a hotel", "mike had vitamin c as well in a hotel"),
        ("give me a double room", "give me a double room"),
        ("plan a is for me and i know", "plan a is for me and i know"),
    ],
)
def test_letters(line: str, expected: str) -> None:
    assert redacted(line, Redacted.LETTERS) == expected.strip()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ask anna maria SCHMIDT", "ask [NAME] [NAME] [NAME]"),
        ("ask anna maria", "ask anna maria"),
        ("zwiesel's and zwiesel", "zwiesel's and [NAME]"),
        ("我 是 王 小明", "我 是 [NAME] [NAME]"),
    ],
)
def test_names_of_the_operators_list(line: str, expected: str) -> None:
    assert redacted(line, Redacted.NAMES) == expected


@pytest.mark.parametrize(
    ("lang", "kind", "line"),
    [
        ("de", Redacted.NUMBERS, "meine nummer ist *null *eins *doppel *fünf *acht danke"),
        ("de-AT", Redacted.NUMBERS, "am *dritten mai *neunzehnhundertneunzig um *acht"),
        ("de", Redacted.NUMBERS, "ein hund und eine katze und drei kinder"),
        ("de", Redacted.NUMBERS, "das ist der zweite punkt"),
        ("de", Redacted.EMAILS, "meine adresse ist *ada *punkt *king *ät *beispiel *punkt *de danke"),
        ("de", Redacted.EMAILS, "schreiben sie an *ada *unterstrich *king *at *web *punkt *de bitte"),
        ("de", Redacted.EMAILS, "das ist ein guter punkt und die stadt ist schön"),
        ("de", Redacted.LETTERS, "also *b *wie *berta *o *wie *otto bitte"),
        ("es", Redacted.NUMBERS, "mi número es *seis *cinco *cinco *doble *cuatro gracias"),
        ("es", Redacted.NUMBERS, "son *treinta y *cinco euros"),
        ("es", Redacted.NUMBERS, "una persona y dos perros"),
        ("es", Redacted.EMAILS, "mi correo es *ada *guion *bajo *king *arroba *ejemplo *punto *es gracias"),
        ("es", Redacted.EMAILS, "desde ese punto de vista es verdad"),
        ("es", Redacted.LETTERS, "se escribe *b *de *barcelona *v *de *valencia"),
        ("fr", Redacted.NUMBERS, "appelez le *zéro *six *douze *trente *quatre *cinquante *six merci"),
        ("fr", Redacted.NUMBERS, "un chien et une maison"),
        ("fr", Redacted.EMAILS, "mon adresse est *ada *tiret *bas *king *arobase *exemple *point *fr merci"),
        ("fr", Redacted.EMAILS, "il n'y en a plus de ce point de vue"),
        ("fr", Redacted.LETTERS, "*b *comme *bernard *o *comme *olivier"),
    ],
)
def test_german_spanish_and_french(lang: str, kind: Redacted, line: str) -> None:
    expected = " ".join(f"[{kind.removesuffix('s').upper()}]" if "*" in word else word for word in line.split())
    assert redacted(line.replace("*", ""), kind, lang=lang) == expected.replace("[LETTER]", "[LETTERS]")


@pytest.mark.parametrize(
    ("lang", "units"),
    [
        ("de", "null eins zwei drei vier fünf sechs sieben acht neun"),
        ("es", "cero uno dos tres cuatro cinco seis siete ocho nueve"),
        ("fr", "zéro un deux trois quatre cinq six sept huit neuf"),
    ],
)
@given(digits=st.lists(st.integers(2, 9), min_size=12, max_size=18))
def test_cards_of_three_languages(lang: str, units: str, digits: list[int]) -> None:
    card = " ".join(units.split()[digit] for digit in _card(digits))
    assert redacted(f"also {card} danke", Redacted.CARDS, lang=lang).split() == [
        "also",
        *["[CARD]"] * (len(digits) + 1),
        "danke",
    ]


def test_a_card_is_told_from_other_digits_by_its_check() -> None:
    card = "four one one one one one one one one one one one one one one"
    assert redacted(f"it is {card} one thanks", Redacted.CARDS) == "it is " + "[CARD] " * 16 + "thanks"
    assert redacted(f"it is {card} two thanks", Redacted.CARDS) == f"it is {card} two thanks"
    assert redacted("it is forty one eleven 1111 1111 1111 thanks", Redacted.CARDS).count("[CARD]") == 6
    misheard = "four won won one one one one one one one one one one one one one"
    assert redacted(f"it is {misheard} thanks", Redacted.CARDS) == "it is " + "[CARD] " * 16 + "thanks"
    grouped = "four triple one triple one triple one triple one triple one"
    assert redacted(f"it is {grouped} thanks", Redacted.CARDS) == "it is " + "[CARD] " * 11 + "thanks"
    assert redacted("卡号 是 四一一一一一一一一一一一一一一一", Redacted.CARDS) == "卡号 是 [CARD]"


def _card(digits: list[int]) -> list[int]:
    """Return digits with the one behind them that makes a card number."""
    total = sum(sum(divmod(digit * (2 - at % 2), 10)) for at, digit in enumerate(reversed(digits)))
    return [*digits, -total % 10]


_SECRETS = st.one_of(
    st.lists(st.integers(2, 9), min_size=12, max_size=18).map(_card).map(lambda card: [UNITS[digit] for digit in card]),
    st.just(["anna", "maria", "schmidt"]),
    st.just(["王", "小", "明"]),
    st.lists(st.sampled_from("bcdfghjkz"), min_size=3, max_size=9).map(lambda said: [letter + "" for letter in said]),
    st.sampled_from(["vera dot quist at frohmail dot com", "v e r a at frohmail dot co dot uk"]).map(str.split),
)
_BEFORE = ["my", "email", "address", "is"]


def test_no_beginning_of_misheard_digits_reveals_one_of_them() -> None:
    said = "five won two too three".split()  # noqa: SIM905
    for end in range(1, len(said) + 1):
        shown = redacted(" ".join(["it", "is", *said[:end]]), Redacted.NUMBERS, whole=False)
        assert shown == "it is" + " [NUMBER]" * end
    assert redacted("it is five five five won", Redacted.NUMBERS).endswith("[NUMBER] won")


@given(secret=_SECRETS, cut=st.integers(0, 40), kind_of_end=st.booleans())
def test_a_border_within_redacted_words_reveals_no_part_of_them(
    secret: list[str], cut: int, *, kind_of_end: bool
) -> None:
    said = [*_BEFORE, *secret, "thank", "you"]
    place = len(_BEFORE) + cut % (len(secret) + 1)
    shown: list[str] = []
    for half, begins in ((said[:place], True), (said[place:], False)):
        words = [SegmentWord(text=word, punctuation="none", disfluency="O") for word in half]
        around = Around(begins=begins, ends=not begins and kind_of_end, opens=begins, closes=False)
        found = _ALL.found(words, around)
        shown += [found.get(at, word.text) for at, word in enumerate(words)]

    assert set(shown) & set(secret) <= {"is"}
    assert shown[-2:] == ["thank", "you"] or secret[-1] not in shown


_MISHEARD = st.sampled_from(
    [
        "five five won five ate five nine",
        "four double triple nine niner six",
        "sierra mike india tango hotel",
        "vera at frohmail dot museum",
        "v e r a at f r o h m a i l period com",
    ]
).map(str.split)


@given(secret=_SECRETS | _MISHEARD, cuts=st.sets(st.integers(0, 30), max_size=6))
def test_redaction_holds_across_segment_borders(secret: list[str], cuts: set[int]) -> None:
    said = [
        *["you", "can", "write", "to", "me", "my", "friend", "at", "any", "time", "to"],
        *secret,
        *["thank", "you", "very", "much", "for", "all", "of", "this"],
    ]
    edges = [0, *sorted(cut for cut in cuts if 0 < cut < len(said)), len(said)]
    shown: list[str] = []
    for begin, end in pairwise(edges):
        words = [SegmentWord(text=word, punctuation="none", disfluency="O") for word in said[begin:end]]
        before, behind = tuple(said[max(0, begin - 12) : begin]), tuple(said[end : end + 12])
        around = Around(before=before, behind=behind, begins=begin == 0, ends=end == len(said))
        found = _ALL.found(words, around)
        shown += [found.get(at, word.text) for at, word in enumerate(words)]

    assert [word for word in shown if word not in said] == shown[11 : 11 + len(secret)]
    assert not set(shown) & set(secret) - {"at"}


@pytest.mark.parametrize(("said", "beside", "lang"), [("four", "niner", "en"), ("一", "兩", "zh-TW")])
def test_a_number_is_redacted_whose_rest_is_said_otherwise_beside(said: str, beside: str, lang: str) -> None:
    words = [SegmentWord(text=said, punctuation="none", disfluency="O")]

    assert Redaction(kinds=frozenset((Redacted.NUMBERS,))).found(words, Around(behind=(beside,)), lang)


@pytest.mark.parametrize(
    ("lang", "before", "said", "behind"),
    [
        ("en", "it is anna", "um maria", "uh schmidt"),
        ("en", "it is q um w", "e", "uh r t y"),
        ("en", "vera dot", "quist", "uh at um frohmail dot com"),
        ("es", "mi nombre es anna", "maria", "eh schmidt"),
        ("fr", "v euh comme", "victor", "euh q comme quebec"),
        ("zh", "我 是 王", "小", "呃 明"),
    ],
)
def test_fillers_beside_a_border_hide_nothing(lang: str, before: str, said: str, behind: str) -> None:
    words = [SegmentWord(text=word, punctuation="none", disfluency="O") for word in said.split()]
    around = Around(before=tuple(before.split()), behind=tuple(behind.split()))

    assert _ALL.found(words, around, lang).keys() >= {len(words) - 1}


@pytest.mark.parametrize("line", ["we have one dog", "she said the first dog", "we have five dogs and then"])
def test_a_lone_small_number_goes_over_a_border_only_beside_it(line: str) -> None:
    assert redacted(line, Redacted.NUMBERS, whole=False) == line


@pytest.mark.parametrize("line", ["then five dogs", "dogs five and"])
def test_a_lone_small_number_beside_a_border_may_go_on_over_it(line: str) -> None:
    assert "[NUMBER]" in redacted(line, Redacted.NUMBERS, whole=False)


def _segment(said: list[str]) -> Segment:
    segment = timed_segment(*((word, "comma" if word == "um" else "none", 0, 200) for word in said))
    return msgspec.structs.replace(
        segment, speaker="Anna Maria Schmidt", attributes={"who": "Zwiesel"}, spellings={"code": "Zwiesel"}
    )


@given(
    st.lists(
        st.sampled_from(["zwiesel", "seven", "eight", "um", "we", "code", "q", "vera@x.com", "twenty"]), max_size=12
    ),
    st.sampled_from(Style),
)
def test_words_text_and_spans_of_a_redacted_segment_agree(said: list[str], style: Style) -> None:
    given_segment = _segment(said)
    segment, found = _ALL.segment(given_segment)
    rendered = render_segment(segment, style, redacted=found)

    assert [word.start_ms for word in segment.words] == [word.start_ms for word in given_segment.words]
    assert all(word.text == found.get(at, said[at]) for at, word in enumerate(segment.words))
    for at, begin, end in rendered.spans:
        if at in found:
            assert rendered.text[begin:end] == found[at]
    written = msgspec.json.encode(segment).decode() + rendered.text
    assert not any(secret in written.casefold() for secret in ("zwiesel", "vera@", "anna"))
    covered = {at for overlay in rendered.overlays for at in range(overlay.first_word, overlay.last_word + 1)}
    assert {at for at, _, _ in rendered.spans if at in found} <= covered


def test_redacted_words_side_by_side_are_one_text_up_to_a_mark() -> None:
    said = timed_segment(
        *(("call", "none", 0, 200), ("five", "none", 0, 200), ("six", "period", 0, 200), ("seven", "none", 0, 200)),
        ("eight", "period", 0, 200),
    )
    segment, found = Redaction(kinds=frozenset({Redacted.NUMBERS})).segment(said)
    rendered = render_segment(segment, Style.FLUENT, redacted=found)

    assert rendered.text == "Call [NUMBER]. [NUMBER]."
    assert rendered.spans == ((0, 0, 4), (1, 5, 13), (2, 5, 13), (3, 15, 23), (4, 15, 23))
    assert [(one.kind, one.first_word, one.last_word) for one in rendered.overlays] == [
        ("redaction", 1, 2),
        ("redaction", 3, 4),
    ]
