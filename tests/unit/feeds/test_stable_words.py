"""Words that are sent are never taken back, and each is sent once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.events import MAX_EVENT_WORDS
from caesura.worker.feeds.hypothesis import HeardWord, Hypothesis, UnreadableMessageError
from caesura.worker.feeds.sent_words import MAX_EDITS, after_sent, words_alike
from caesura.worker.feeds.stable_words import StableWords


def heard(
    text: str, *, final: bool = False, utterance: str = "", stable: int = 0, stream: str | int = ""
) -> Hypothesis:
    words = tuple(HeardWord(text=word, stable=at < stable) for at, word in enumerate(text.split()))
    return Hypothesis(words=words, final=final, utterance=utterance, stream=str(stream))


def sent(stable: StableWords, *hypotheses: Hypothesis) -> list[str]:
    return [" ".join(word.text for word in stable.take(one)[0]) for one in hypotheses]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["i scream", "i scream for", "i scream for ice", "i scream for ice."], ["", "i scream", "for", "ice."]),
        (["so we", "so we go", "So, we go there."], ["", "so we", "go there."]),
        (["i scream", "i scream for", "eyes", "i scream for ice"], ["", "i scream", "", "for ice"]),
        (["i scream for", "i scream for", "i scream", "i scream for"], ["", "", "i", "scream for"]),
    ],
    ids=["all but the last word", "capitals and marks", "a hypothesis that flickers", "the same hypothesis again"],
)
def test_words_that_hypotheses_agree_on_go_out_once(said: list[str], expected: list[str]) -> None:
    *partials, final = said
    assert sent(StableWords(2), *map(heard, partials), heard(final, final=True)) == expected


def test_stable_words_go_out_up_to_the_first_unstable_one() -> None:
    assert sent(StableWords(0), heard("so um yes", stable=2), heard("so um yet we", final=True)) == ["so um", "yet we"]


def test_a_word_that_is_heard_otherwise_later_stays_and_is_counted() -> None:
    stable = StableWords(2)
    said = (heard("i scream"), heard("i scream for"), heard("ice cream for me", final=True))
    assert sent(stable, *said) == ["", "i scream", "for me"]
    assert stable.revised == 2


def test_a_closed_utterance_that_comes_again_is_a_repeat() -> None:
    stable = StableWords(0)
    said = (
        heard("yes yes", final=True, utterance="1"),
        heard("Yes, yes.", final=True, utterance="1"),
        heard("yes yes", final=True, utterance="2"),
    )
    assert sent(stable, *said) == ["yes yes", "", "yes yes"]
    stable.restart()
    assert sent(stable, said[0]) == ["yes yes"], "a new connection names its utterances anew"


def test_utterances_that_are_never_ended_do_not_pile_up() -> None:
    stable = StableWords(0)
    for number in range(200):
        sent(stable, heard("so", utterance=str(number)))
    assert sent(stable, heard("so", final=True, utterance="199")) == ["so"]
    assert sent(stable, heard("so um", utterance="0", stable=2)) == [""], "it was given up long ago"
    final = heard("so yes", final=True, utterance="0")
    assert sent(stable, final, final) == ["so yes", ""], "and its final is not lost"


def test_a_final_of_a_dropped_utterance_adds_the_unsent_words() -> None:
    stable = StableWords(0)
    sent(stable, heard("so um", utterance="first", stable=1), *(heard("so", utterance=str(at)) for at in range(64)))
    assert sent(stable, heard("so uh yes", final=True, utterance="first")) == ["uh yes"]


@pytest.mark.parametrize(
    ("said", "final", "rest"),
    [
        ("so we go home", "so we all go home now", "now"),  # by their number "home" would go out twice
        ("so um we go", "so we go there", "there"),  # and "there" not at all
        ("so we go", "So, we went. There!", "There!"),
        ("so we go", "so we", ""),
    ],
)
def test_a_final_of_a_dropped_utterance_may_differ_from_the_sent_words(said: str, final: str, rest: str) -> None:
    stable = StableWords(0)
    sent(stable, heard(said, utterance="first", stable=9), *(heard("so", utterance=str(at)) for at in range(64)))
    assert sent(stable, heard(final, final=True, utterance="first")) == [rest]
    assert stable.revised == 1


@pytest.mark.parametrize("long", [["so"] * 5_000, ["so", "x" * 600]], ids=["many words", "a long word"])
def test_a_long_dropped_utterance_is_matched_by_its_last_words(long: list[str]) -> None:
    stable = StableWords(0)
    sent(stable, heard(" ".join([*long, "go", "home"]), utterance="first", stable=len(long) + 2))
    sent(stable, *(heard("so", utterance=str(at)) for at in range(64)))
    final = heard(" ".join(["uh", *long[1:], "all", "go", "home", "now"]), final=True, utterance="first")
    assert sent(stable, final) == ["now"]
    assert stable.revised == 1, "the first word is not kept"


def test_a_second_final_of_a_dropped_utterance_is_a_repeat() -> None:
    stable = StableWords(0)
    sent(stable, heard("so", utterance="first", stable=1), *(heard("um", utterance=str(at)) for at in range(64)))
    sent(stable, *(heard("so", final=True, utterance=f"closed {at}") for at in range(1_023)))
    final = heard("so yes", final=True, utterance="first")
    assert sent(stable, final) == ["yes"]
    sent(stable, heard("so", final=True, utterance="another"))
    assert sent(stable, final) == [""]


def test_agreement_needs_at_least_two_hypotheses() -> None:
    with pytest.raises(ValueError, match="at least 2"):
        StableWords(1)


def test_too_many_words_for_one_event_are_refused_while_they_may_change() -> None:
    stable = StableWords(2)
    with pytest.raises(UnreadableMessageError, match="oversized: words: expected at most 2000"):
        stable.check(heard("so " * (MAX_EVENT_WORDS + 1)))
    stable.check(heard("so " * MAX_EVENT_WORDS))
    stable.check(heard("so " * 20_000, final=True))


@pytest.mark.slow
def test_an_utterance_that_its_recogniser_never_ends_may_grow_for_hours() -> None:
    stable, said = StableWords(2), ["so"] * 10_000
    for words in range(500, 10_001, 500):
        for more in ("um", "uh"):
            hypothesis = heard(" ".join([*said[:words], more, more]))
            stable.check(hypothesis)
            stable.take(hypothesis)
    assert sent(stable, heard(" ".join([*said, "yes"]), final=True)) == ["yes"]


@pytest.mark.parametrize("text", ["hello " * 1000, ""])
def test_partials_are_bounded_across_channels_and_finals_kept(text: str) -> None:
    stable = StableWords(3)

    def hear(streams: int) -> None:
        for stream in range(streams):
            stable.check(heard(text, stream=stream))
            sent(stable, heard(text, stream=stream))

    with pytest.raises(UnreadableMessageError, match="oversized: words: expected at most 100000 characters") as error:
        hear(20_000)
    assert "in all channels together" in str(error.value)
    for stream in range(20_000):
        final = heard("hello yes", final=True, stream=stream)
        stable.check(final)
        assert sent(stable, final) == ["hello yes"]
    stable.check(heard(text, stream="another"))


def test_an_utterances_memory_is_free_after_its_final_and_a_reconnect() -> None:
    stable = StableWords(2)
    for number in range(300):
        for hypothesis in (heard("hello " * 1000), heard(f"{number} bye"), heard("bye", final=True)):
            stable.check(hypothesis)
            stable.take(hypothesis)
    for number in range(200):
        stable.check(heard("hello " * 1000, stream=number))
        sent(stable, heard("hello " * 1000, stream=number))
        stable.restart()


def test_a_name_that_no_recogniser_gives_is_refused() -> None:
    for hypothesis in (heard("so", final=True, utterance="n" * 257), heard("so", final=True, stream="n" * 257)):
        with pytest.raises(UnreadableMessageError, match="name of a channel or an utterance: expected at most 256"):
            StableWords(0).check(hypothesis)


def test_repeats_of_a_closed_utterance_are_dropped() -> None:
    stable = StableWords(2)
    sent(stable, heard("so", final=True, utterance="1"))
    stable.check(heard("so " * 5000, utterance="1"))


_SAID = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=6).map(" ".join)


@given(partials=st.lists(_SAID, max_size=8), final=_SAID)
def test_without_agreement_the_words_are_exactly_the_finals(partials: list[str], final: str) -> None:
    stable = StableWords(0)
    assert "".join(sent(stable, *map(heard, partials), heard(final, final=True))) == final
    assert stable.revised == 0


@given(final=_SAID, cuts=st.lists(st.integers(0, 6), max_size=10), agreement=st.integers(2, 4))
def test_a_recogniser_that_only_appends_is_sent_exactly_whatever_the_agreement(
    final: str, cuts: list[int], agreement: int
) -> None:
    words = final.split()
    partials = [heard(" ".join(words[:cut])) for cut in sorted(cuts)]
    stable = StableWords(agreement)
    assert " ".join(filter(None, sent(stable, *partials, heard(final, final=True)))) == final
    assert stable.revised == 0


@given(partials=st.lists(_SAID, max_size=8), final=_SAID, agreement=st.integers(2, 3))
def test_what_goes_out_differs_from_the_final_by_no_more_than_is_counted(
    partials: list[str], final: str, agreement: int
) -> None:
    stable = StableWords(agreement)
    said = [word for part in sent(stable, *map(heard, partials), heard(final, final=True)) for word in part.split()]
    assert edits_by_table(said, final.split())[-1] <= stable.revised


@given(partials=st.lists(_SAID, min_size=1, max_size=8), final=_SAID, agreement=st.integers(2, 3))
def test_a_given_up_utterance_does_not_change_its_final(partials: list[str], final: str, agreement: int) -> None:
    kept, given_up = StableWords(agreement), StableWords(agreement)
    for stable in (kept, given_up):
        sent(stable, *(heard(text, utterance="first") for text in partials))
    sent(given_up, *(heard("so", utterance=str(at)) for at in range(64)))

    last = heard(final, final=True, utterance="first")
    assert sent(given_up, last, last) == sent(kept, last, last)
    assert given_up.revised == kept.revised


def edits_by_table(one: list[str], other: list[str]) -> list[int]:
    """Return the edits between the whole of one and each beginning of other, by the whole table."""
    row = list(range(len(other) + 1))
    for count, word in enumerate(one, start=1):
        above, row = row, [count]
        for at, its in enumerate(other):
            row.append(min(above[at] + (word != its), above[at + 1] + 1, row[at] + 1))
    return row


def plainly(sent: list[str], texts: list[str]) -> tuple[int, int]:
    """Return what ``after_sent`` returns, by the whole table."""
    row = edits_by_table(sent, texts)
    begin = min(range(len(row)), key=lambda length: (row[length], abs(length - len(sent))))
    return begin, row[begin]


class Compared(str):
    """A word that counts how often such words are compared, and stops where that is too often."""

    __slots__ = ()
    times = 0
    most = 0

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        assert Compared.times <= Compared.most
        return str.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def compared(*texts: str, most: int) -> list[str]:
    Compared.times, Compared.most = 0, most
    return [Compared(text) for text in texts]


_TEXTS = st.lists(st.sampled_from("abc"), max_size=14)


@given(sent=_TEXTS, texts=_TEXTS)
def test_the_place_and_the_edits_are_those_of_the_whole_table(sent: list[str], texts: list[str]) -> None:
    assert after_sent(sent, texts) == plainly(sent, texts)


@given(
    alike=st.integers(0, 300),
    sent=st.lists(st.sampled_from("ab"), max_size=MAX_EDITS),
    texts=st.lists(st.sampled_from("ab"), max_size=MAX_EDITS),
)
def test_what_follows_a_long_beginning_that_is_alike_is_matched_exactly(
    alike: int, sent: list[str], texts: list[str]
) -> None:
    begin, edits = plainly(sent, texts)
    assert after_sent(["x"] * alike + sent, ["x"] * alike + texts) == (alike + begin, edits)


@given(texts=_TEXTS, others=st.lists(_TEXTS, max_size=3))
def test_words_are_alike_up_to_the_first_that_is_not(texts: list[str], others: list[list[str]]) -> None:
    lengths = range(len(texts) + 1)
    assert words_alike(texts, *others) == max(n for n in lengths if all(texts[:n] == one[:n] for one in others))


def test_words_that_agree_are_compared_once_each() -> None:
    several = [compared(*map(str, range(3000)), most=2 * 3000) for _ in range(3)]
    assert words_alike(*several) == 3000


def test_a_few_changes_in_a_long_utterance_cost_a_few_times_its_words() -> None:
    said = [str(number) for number in range(3000)]
    sent = compared(*said, most=6 * 3000)
    assert after_sent(sent, [*said[:100], "um", *said[100:], "yes"]) == (3001, 1)


@pytest.mark.parametrize(
    ("sent", "texts"),
    [
        ([str(number) for number in range(3900)], ["b"] * 20_000),
        (["x", *["a"] * 20_000], ["y", "y", "y", *["a"] * 20_000]),
        (["x", *["a", "b"] * 10_000], ["y", *["b", "a", "a"] * 10_000]),
        (["a"] * 200_001, ["b"] * 200_001),
    ],
)
def test_the_most_unlike_words_are_compared_no_more_often_than_is_said(sent: list[str], texts: list[str]) -> None:
    begin, edits = after_sent(compared(*sent, most=600_000 + 2 * len(sent)), texts)
    assert 0 < begin <= len(texts)
    assert edits <= len(sent)


def test_words_too_unlike_to_match_are_taken_place_by_place() -> None:
    other = [f"other {number}" for number in range(200)]
    assert after_sent([str(number) for number in range(100)], other) == (100, 100)
    assert after_sent([str(number) for number in range(300)], other) == (200, 300)
