"""Labels as one value: whatever is done to it is done to each column."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

from caesura.schemas.labels import NO_LABELS, Casing, Disfluency, Labels, Punctuation

_COLUMNS = len(Labels.__struct_fields__)


@st.composite
def drawn_labels(draw: st.DrawFn, *, least: int = 0) -> Labels:
    words = draw(st.integers(least, 8))
    column = st.binary(min_size=words, max_size=words)
    return Labels(draw(column), *[draw(column | st.just(b"")) for _ in range(_COLUMNS - 1)])


def _of_words(labels: Labels) -> list[tuple[int, ...]]:
    return list(zip(*astuple(labels.filled()), strict=True))


@given(drawn_labels(), drawn_labels())
def test_joined_labels_are_those_of_both_and_their_parts_are_each(first: Labels, second: Labels) -> None:
    joined = first + second
    assert joined.fit(len(first) + len(second))
    assert _of_words(joined) == _of_words(first) + _of_words(second)
    assert _of_words(joined.part(0, len(first))) == _of_words(first)
    assert _of_words(joined.part(len(first))) == _of_words(second)


@given(drawn_labels(least=1), st.integers(0, _COLUMNS - 1))
def test_labels_with_a_column_of_another_length_fit_no_words(labels: Labels, column: int) -> None:
    columns = list(astuple(labels))
    columns[column] += b"\0\0" if len(columns[column]) != len(labels) - 2 else b"\0"
    assert not Labels(*columns).fit(len(labels))


def test_every_kind_spreads_over_the_pieces_of_a_word_by_its_own_rule() -> None:
    words = Labels(
        punctuation=bytes((Punctuation.NONE, Punctuation.PERIOD)),
        disfluency=bytes((Disfluency.B_RM, Disfluency.I_RM)),
        casing=bytes((Casing.CAPITAL_FIRST, Casing.ALL_CAPITALS)),
    )
    assert words.over_pieces([1, 1]) == words
    pieces = words.over_pieces([3, 2])
    assert pieces.punctuation == bytes((0, 0, 0, 0, Punctuation.PERIOD))
    assert pieces.disfluency == bytes((Disfluency.B_RM, *(Disfluency.I_RM,) * 4))
    assert pieces.casing == bytes((Casing.CAPITAL_FIRST, *(Casing.SMALL,) * 2, *(Casing.ALL_CAPITALS,) * 2))


def test_a_column_of_which_nothing_is_known_stays_so_over_pieces() -> None:
    assert Labels.none(2).over_pieces([2, 1]) == Labels.none(3)


@given(drawn_labels(), st.integers(1, _COLUMNS - 1))
def test_labels_that_say_the_same_are_stored_as_the_same(labels: Labels, column: int) -> None:
    columns = list(astuple(labels))
    columns[column] = b""
    unknown = Labels(*columns)
    columns[column] = bytes(len(labels))
    known = Labels(*columns)
    assert known.compact() == unknown.compact()
    assert _of_words(labels.compact()) == _of_words(labels)
    assert labels.part(0, 0).compact() is NO_LABELS, "a default is left out by identity"
