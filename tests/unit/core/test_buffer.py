"""The buffer: frozen labels stay, tags are made consistent, words leave at the front."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

from caesura.schemas.labels import NO_LABELS, Casing, Disfluency, Labels, Punctuation
from caesura.schemas.segments import Cause, ModelRef
from caesura.schemas.state import ModelWord
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.core.decoding.buffer import Buffer
from caesura.worker.core.language.rules import DecodingRules, ModelTable
from caesura.worker.ports.engine import EngineModel
from tests.harness.partition_driver import MARKED, NOW_MS, Driver, event, numbered
from tests.harness.speech import said


def _buffer(punctuation: list[int], disfluency: list[int] | None = None, *, look_ahead_words: int = 0) -> Buffer:
    buffer = Buffer([ModelWord(view=f"w{place}", pieces=()) for place in range(len(punctuation))])
    labels = Labels(punctuation=bytes(punctuation), disfluency=bytes(disfluency or [0] * len(punctuation)))
    buffer.relabel(labels, first=0, look_ahead_words=look_ahead_words)
    return buffer


tags = st.lists(st.sampled_from(Disfluency), min_size=1, max_size=12)


@given(tags, st.sampled_from(Disfluency))
def test_a_tag_changes_only_where_it_continues_nothing_and_then_it_begins(drawn: list[int], previous: int) -> None:
    buffer = _buffer([0] * len(drawn), drawn)
    buffer.freeze(len(drawn), previous)

    before = previous
    for given_tag, tag in zip(drawn, buffer.labels.disfluency, strict=True):
        inside = given_tag in (Disfluency.I_RM, Disfluency.I_IM)
        orphan = inside and before not in (given_tag, given_tag - 1)
        assert tag == (given_tag - 1 if orphan else given_tag)
        before = tag


@given(tags, st.data())
def test_tags_frozen_bit_by_bit_are_those_frozen_at_once(drawn: list[int], data: st.DataObject) -> None:
    at_once, bit_by_bit = _buffer([0] * len(drawn), drawn), _buffer([0] * len(drawn), drawn)
    last = at_once.freeze(len(drawn), Disfluency.O)
    tag = bit_by_bit.freeze(data.draw(st.integers(0, len(drawn))), Disfluency.O)

    assert bit_by_bit.freeze(len(drawn), tag) == last
    assert bit_by_bit.labels == at_once.labels


def test_a_labelling_passes_over_what_is_frozen() -> None:
    buffer = _buffer([Punctuation.COMMA] * 3, [Disfluency.B_IM] * 3)
    buffer.freeze(2, Disfluency.O)
    buffer.relabel(Labels(punctuation=bytes([2]), disfluency=bytes(1), casing=bytes(1)), first=2, look_ahead_words=0)

    assert buffer.labels.punctuation == bytes([1, 1, 2])
    assert buffer.labels.disfluency == bytes([3, 3, 0])


def test_a_frozen_casing_stays_and_a_labelling_without_one_says_as_given() -> None:
    buffer = _buffer([0, 0, 0])
    buffer.relabel(
        Labels(punctuation=bytes(3), disfluency=bytes(3), casing=bytes([2, 2, 2])), first=0, look_ahead_words=0
    )
    buffer.freeze(1, Disfluency.O)
    buffer.relabel(Labels(punctuation=bytes(2), disfluency=bytes(2), casing=bytes([3, 2])), first=1, look_ahead_words=0)
    assert buffer.labels.casing == bytes([2, 3, 2])

    buffer.relabel(Labels(punctuation=bytes(2), disfluency=bytes(2)), first=1, look_ahead_words=0)
    assert buffer.labels.casing == bytes([2, 0, 0])


def test_a_labelling_of_another_length_is_refused() -> None:
    buffer = _buffer([0, 0])

    for labels in (
        Labels(punctuation=bytes(3), disfluency=bytes(3)),
        Labels(punctuation=bytes(2), disfluency=bytes(1)),
        Labels(punctuation=bytes(2), disfluency=bytes(2), casing=bytes(1)),
    ):
        with pytest.raises(ValueError, match="one label of each kind a word"):
            buffer.relabel(labels, first=0, look_ahead_words=0)


def test_a_labelling_that_leaves_words_out_or_is_of_frozen_words_is_refused() -> None:
    buffer = _buffer([0, 0])
    buffer.append(ModelWord(view="w2", pieces=()))
    buffer.append(ModelWord(view="w3", pieces=()))
    one = Labels(punctuation=bytes(1), disfluency=bytes(1))
    with pytest.raises(ValueError, match="behind the words whose labels are known"):
        buffer.relabel(one, first=3, look_ahead_words=0)
    buffer.freeze(2, Disfluency.O)
    with pytest.raises(ValueError, match="behind the words whose labels are known"):
        buffer.relabel(one, first=1, look_ahead_words=0)


def test_words_behind_a_labelling_have_no_label() -> None:
    buffer = _buffer([0] * 6, look_ahead_words=2)
    assert (buffer.known, buffer.is_labelled) == (4, True)
    buffer.append(ModelWord(view="w6", pieces=()))
    buffer.relabel(Labels(punctuation=bytes([1]), disfluency=bytes(1)), first=4, look_ahead_words=2)
    assert buffer.labels.punctuation == bytes([0, 0, 0, 0, 1])
    assert (buffer.known, buffer.is_labelled) == (5, False)
    buffer.freeze(5, Disfluency.O)
    buffer.drop(1)
    assert (buffer.known, buffer.frozen) == (4, 4), "what is settled is not known any more where the start has moved"


def test_only_frozen_words_leave_and_what_is_left_keeps_its_labels() -> None:
    buffer = _buffer([0, 2, 1, 0], look_ahead_words=1)
    assert buffer.settled == 3
    with pytest.raises(AssertionError):
        buffer.drop(2)

    buffer.freeze(2, Disfluency.O)
    buffer.drop(2)
    assert (buffer.views, buffer.labels.punctuation, buffer.start, buffer.end) == (["w2", "w3"], bytes([1, 0]), 2, 4)
    assert (buffer.frozen, buffer.settled, buffer.is_labelled) == (0, 0, False)


def test_the_last_comma_is_one_that_frees_enough_and_has_enough_after_it() -> None:
    buffer = _buffer([1, 0, 4, 0, 1, 0])

    assert buffer.last_comma(look_ahead_words=2, least=1) == 3
    assert buffer.last_comma(look_ahead_words=1, least=1) == 5
    assert buffer.last_comma(look_ahead_words=4, least=2) is None


OLD = EngineModel(name="old@1", language="en", active=True, look_ahead_words=2)
NEW = EngineModel(name="new@2", language="en", active=True, look_ahead_words=2)
RETIRED = EngineModel(name="old@1", language="en", active=False, look_ahead_words=2)


def test_a_language_without_a_model_goes_out_unlabelled_unasked_and_counted() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(max_buffer_words=30))
    driver.give(event(0, numbered(40), lang="fi"))
    driver.wait(1_000)

    assert driver.requests == []
    assert [one.cause for one in driver.segments] == [Cause.LENGTH, Cause.SILENCE]
    assert {one.model for one in driver.segments} == {None}
    assert driver.context.counts.unmodelled_words == 40


def test_mandarin_by_its_other_name_has_the_chinese_model() -> None:
    driver = Driver(engine=MARKED)
    driver.give(event(0, "one", lang="cmn-Hans", session_end=True))

    assert driver.segments[0].model == ModelRef(id="scripted-zh", version="1")


def test_the_active_model_takes_a_session_over_when_its_buffers_start_has_moved() -> None:
    driver = Driver(
        engine=ScriptedEngine(models=[OLD], script=marked_words),
        rules=DecodingRules(max_context_words=0, context_words=0),
    )
    driver.give(event(0, "one-stop " + numbered(5)))
    driver.restart(ScriptedEngine(models=[RETIRED, NEW], script=marked_words))
    driver.give(event(1, numbered(6)))

    assert [request.model_id for request in driver.requests] == ["old@1", "old@1", "old@1", "new@2"]
    assert driver.context.counts.takeovers == 0
    assert driver.segments[0].model == ModelRef(id="old", version="1")


def test_a_worker_without_the_sessions_model_takes_over_at_once() -> None:
    driver = Driver(engine=ScriptedEngine(models=[OLD], script=marked_words))
    driver.give(event(0, "one-comma " + numbered(5)))
    driver.restart(ScriptedEngine(models=[NEW], script=marked_words))
    driver.give(event(1, numbered(3)))
    driver.give(event(2, session_end=True))

    first, rest = driver.segments
    assert (first.cause, len(first.words), first.model) == (Cause.SETTLED, 4, ModelRef(id="old", version="1"))
    assert first.words[0].punctuation == "comma"
    assert (len(rest.words), rest.model) == (5, ModelRef(id="new", version="2"))
    assert driver.requests[-1].model_id == "new@2"
    assert len(driver.requests[-1].words) == 9
    assert driver.context.counts.takeovers == 1


def test_a_model_that_arrives_for_a_language_labels_unfrozen_words() -> None:
    driver = Driver(engine=ScriptedEngine(models=[], script=marked_words))
    driver.give(event(0, "one-comma two", utterance_end=True))
    driver.give(event(1, "three-comma four"))
    driver.restart(ScriptedEngine(models=[NEW], script=marked_words))
    driver.give(event(2, "five", session_end=True))

    words = [(word.text, word.punctuation) for segment in driver.segments for word in segment.words]
    assert words == [
        ("one-comma", "none"),
        ("two", "none"),
        ("three-comma", "comma"),
        ("four", "none"),
        ("five", "period"),
    ]
    assert driver.context.counts.takeovers == 0


def test_a_model_that_arrives_labels_words_too_that_were_settled_without_one() -> None:
    driver = Driver(engine=ScriptedEngine(models=[], script=marked_words))
    driver.give(event(0, "one-comma two-comma " + numbered(13)))
    driver.restart(ScriptedEngine(models=[NEW], script=marked_words))
    driver.give(event(1, session_end=True))

    assert driver.requests[-1].first == 0
    words = [word.punctuation for segment in driver.segments for word in segment.words]
    assert words == ["comma", "comma", *["none"] * 12, "period"]
    assert {segment.model for segment in driver.segments} == {ModelRef(id="new", version="2")}


def test_a_session_that_cannot_be_labelled_freezes_unlabelled_and_goes_on() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(look_ahead_words=0), lazy=True)
    driver.give(event(0, "one-stop two three four five six", lang="en"))
    (pending,) = driver.sessions.waiting(NOW_MS)
    driver.sessions.fall_back(pending.request.session, NOW_MS)
    driver.work()
    driver.give(event(1, session_end=True))
    driver.work()

    first, rest, end = driver.segments
    assert (first.cause, said([first]), first.model) == (Cause.FALLBACK, ["one-stop", "two", "three"], None)
    assert {word.punctuation for word in first.words} == {"none"}
    assert (rest.cause, said([rest])) == (Cause.SENTENCE, ["four", "five", "six"])
    assert (end.cause, end.words) == (Cause.END, ())
    assert driver.context.counts.fallbacks == 1


def test_labels_of_another_length_are_refused() -> None:
    driver = Driver(lazy=True)
    driver.give(event(0, numbered(9)))
    (pending,) = driver.sessions.waiting(NOW_MS)
    assert len(pending.request.wanted) == 3

    for wrong in (bytes(9), bytes(1)):
        with pytest.raises(ValueError, match="one of each kind a wanted word"):
            driver.sessions.resolve("s", Labels(punctuation=wrong, disfluency=wrong), NOW_MS)
    with pytest.raises(ValueError, match="one of each kind a wanted word"):
        driver.sessions.resolve("s", Labels(punctuation=bytes(3), disfluency=b"\0"), NOW_MS)


def test_a_model_table_knows_the_default_look_ahead_where_there_is_no_model() -> None:
    table = ModelTable.of([OLD])

    assert (table.look_ahead_of("old@1"), table.look_ahead_of(None), table.look_ahead_of("gone@1")) == (2, 9, 9)


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
