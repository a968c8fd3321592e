"""What holds for every speech, however it is cut into events, and whatever happens on the way."""

from __future__ import annotations

import dataclasses

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from caesura.schemas.events import Emission
from caesura.schemas.segments import Cause, Segment
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.core.decoding.admission import OfferOutcome
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.language.words import SegmenterFactory, whitespace_segmenters
from tests.harness.partition_driver import Driver, event, however_grouped, pair_segmenters
from tests.harness.speech import said
from tests.harness.speeches import Said, Timed, groupings, look_aheads, rules, speeches, words

segmenters = st.sampled_from([whitespace_segmenters, pair_segmenters])
EXAMPLES = settings(max_examples=80)


def _driver(chosen: DecodingRules, look_ahead: int, segmenter: SegmenterFactory, *, lazy: bool = False) -> Driver:
    engine = ScriptedEngine(look_ahead_words=look_ahead)
    return Driver(rules=chosen, engine=engine, segmenters=segmenter, lazy=lazy)


def _decode(driver: Driver, events: list[Timed]) -> list[Segment]:
    for timed in events:
        assert driver.give(timed.event, after_ms=timed.after_ms).outcome is OfferOutcome.ACCEPTED
    driver.work()
    return driver.segments


@EXAMPLES
@given(data=st.data(), speech=speeches, chosen=rules, look_ahead=look_aheads, segmenter=segmenters)
def test_every_word_is_published_once_and_in_order(
    data: st.DataObject, speech: list[Said], chosen: DecodingRules, look_ahead: int, segmenter: SegmenterFactory
) -> None:
    events = data.draw(groupings(speech))

    segments = _decode(_driver(chosen, look_ahead, segmenter), events)

    assert "".join(said(segments)) == "".join(word for one in speech for word in one.words)
    if segmenter is whitespace_segmenters:
        assert said(segments) == [word for one in speech for word in one.words]


@EXAMPLES
@given(data=st.data(), speech=speeches, chosen=rules, look_ahead=look_aheads, segmenter=segmenters)
def test_segments_are_numbered_without_a_hole_and_hold_no_sentence_end_in_their_middle(
    data: st.DataObject, speech: list[Said], chosen: DecodingRules, look_ahead: int, segmenter: SegmenterFactory
) -> None:
    segments = _decode(_driver(chosen, look_ahead, segmenter), data.draw(groupings(speech)))

    first_word, sentence, began = 0, 0, False
    for index, segment in enumerate(segments):
        marks = [word.punctuation in ("period", "question") for word in segment.words]
        assert (segment.index, segment.first_word) == (index, first_word)
        assert not any(marks[:-1])
        assert segment.sentence_end == any(marks)
        assert segment.words or segment.session_end
        assert segment.sentence >= sentence
        if segment.words:
            assert segment.sentence_start == (segment.sentence > sentence or not began)
            assert began is False or segment.sentence <= sentence + 1
            sentence, began = segment.sentence, True
        first_word += len(segment.words)
    assert [segment.session_end for segment in segments] == [False] * (len(segments) - 1) + [True]


@EXAMPLES
@given(data=st.data(), speech=speeches, chosen=rules, look_ahead=look_aheads, segmenter=segmenters)
def test_how_words_are_grouped_into_events_and_polls_and_how_often_events_come_changes_nothing(
    data: st.DataObject, speech: list[Said], chosen: DecodingRules, look_ahead: int, segmenter: SegmenterFactory
) -> None:
    one_way = _decode(_driver(chosen, look_ahead, segmenter), data.draw(groupings(speech)))

    driver = _driver(chosen, look_ahead, segmenter, lazy=True)
    given_already: list[Timed] = []
    for timed in data.draw(groupings(speech)):
        assert driver.give(timed.event, after_ms=timed.after_ms).outcome is OfferOutcome.ACCEPTED
        given_already.append(timed)
        if data.draw(st.booleans()):
            again = data.draw(st.sampled_from(given_already)).event
            known = again.epoch == timed.event.epoch
            assert driver.give(again).outcome is (OfferOutcome.REPEAT if known else OfferOutcome.REFUSED)
        if data.draw(st.booleans()):
            driver.work()
    driver.work()

    assert however_grouped(driver.segments) == however_grouped(one_way)


@EXAMPLES
@given(data=st.data(), speech=speeches, chosen=rules, look_ahead=look_aheads, segmenter=segmenters)
def test_a_snapshot_stored_and_restored_anywhere_is_invisible(
    data: st.DataObject, speech: list[Said], chosen: DecodingRules, look_ahead: int, segmenter: SegmenterFactory
) -> None:
    events = data.draw(groupings(speech))
    undisturbed = _decode(_driver(chosen, look_ahead, segmenter), events)

    driver = _driver(chosen, look_ahead, segmenter)
    for timed in events:
        driver.give(timed.event, after_ms=timed.after_ms)
        if data.draw(st.booleans()):
            before = driver.state()
            driver.restart()
            assert driver.state() == before

    assert driver.segments == undisturbed


@EXAMPLES
@given(data=st.data(), speech=speeches, chosen=rules, look_ahead=look_aheads)
def test_what_a_frozen_word_says_in_the_stored_state_is_what_was_published_of_it(
    data: st.DataObject, speech: list[Said], chosen: DecodingRules, look_ahead: int
) -> None:
    driver = _driver(chosen, look_ahead, whitespace_segmenters)
    stored: dict[int, tuple[int, int, int]] = {}
    for timed in data.draw(groupings(speech)):
        driver.give(timed.event, after_ms=timed.after_ms)
        state = driver.state()
        start = state.decoding.model_words - len(state.buffer)
        frozen = state.decoding.labels.filled()
        for place in range(state.decoding.frozen):
            labels = frozen.punctuation[place], frozen.disfluency[place], frozen.casing[place]
            assert stored.setdefault(start + place, labels) == labels

    names = {0: "none", 1: "comma", 2: "period", 3: "question", 4: "enumeration_comma"}
    tags = {0: "O", 1: "B-RM", 2: "I-RM", 3: "B-IM", 4: "I-IM"}
    published = [word for segment in driver.segments for word in segment.words]
    casings = {0: "as_given", 1: "small", 2: "capital_first", 3: "all_capitals"}
    for place, (mark, tag, casing) in stored.items():
        assert (published[place].punctuation, published[place].disfluency) == (names[mark], tags[tag])
        assert published[place].casing == casings[casing]


@EXAMPLES
@given(spoken=words, chosen=rules, look_ahead=look_aheads)
def test_what_froze_as_settled_no_later_labelling_would_have_changed(
    spoken: tuple[str, ...], chosen: DecodingRules, look_ahead: int
) -> None:
    driver = _driver(chosen, look_ahead, whitespace_segmenters)
    frozen: dict[int, tuple[int, int]] = {}
    known: set[int] = set()
    for seq, text in enumerate(spoken * 2):
        asked = len(driver.requests)
        driver.give(event(seq, text))
        for request in driver.requests[asked:]:
            (labels,) = driver.engine.label([replace(request, first=0, end=None)])
            for place, label in frozen.items():
                if (now := place - request.buffer_start) >= 0:
                    assert (labels.punctuation[now], labels.casing[now]) == label
        state = driver.state()
        start = state.decoding.model_words - len(state.buffer)
        places = range(start, start + state.decoding.frozen)
        settled = (place for place in places if place not in known and place + look_ahead < state.decoding.model_words)
        held = state.decoding.labels.filled()
        frozen |= {place: (held.punctuation[place - start], held.casing[place - start]) for place in settled}
        frozen = {place: label for place, label in frozen.items() if state.decoding.labelled_start == start <= place}
        known.update(places)


@EXAMPLES
@given(spoken=words, chosen=rules, look_ahead=look_aheads)
def test_in_settled_mode_a_word_is_out_when_look_ahead_and_a_step_less_one_further_words_are_in(
    spoken: tuple[str, ...], chosen: DecodingRules, look_ahead: int
) -> None:
    driver = _driver(chosen, look_ahead, whitespace_segmenters)
    for seq, text in enumerate(spoken * 2):
        driver.give(event(seq, text))
        if chosen.emission is Emission.SETTLED:
            waiting = seq + 1 - len(said(driver.segments))
            assert waiting <= look_ahead + chosen.step_words - 1 + chosen.min_settled_words - 1


@EXAMPLES
@given(spoken=words, chosen=rules, look_ahead=look_aheads)
def test_in_clause_mode_a_segment_ends_at_a_mark_or_a_limit_and_no_word_waits_longer(
    spoken: tuple[str, ...], chosen: DecodingRules, look_ahead: int
) -> None:
    chosen = dataclasses.replace(chosen, emission=Emission.CLAUSE)
    driver = _driver(chosen, look_ahead, whitespace_segmenters)
    for seq, text in enumerate(spoken * 2):
        driver.give(event(seq, text))
        waiting = seq + 1 - len(said(driver.segments))
        assert waiting <= look_ahead + chosen.step_words - 1 + chosen.max_clause_words - 1
    for segment in driver.segments:
        if segment.cause is Cause.SETTLED and segment.words[-1].punctuation == "none":
            assert len(segment.words) >= chosen.max_clause_words


@EXAMPLES
@given(data=st.data(), speech=speeches, chosen=rules, look_ahead=look_aheads, segmenter=segmenters)
def test_no_buffer_to_be_labelled_is_longer_than_its_limit(
    data: st.DataObject, speech: list[Said], chosen: DecodingRules, look_ahead: int, segmenter: SegmenterFactory
) -> None:
    driver = _driver(chosen, look_ahead, segmenter)
    _decode(driver, data.draw(groupings(speech)))

    assert max((len(request.words) for request in driver.requests), default=0) <= chosen.max_buffer_words


@EXAMPLES
@given(data=st.data(), speech=speeches, chosen=rules, look_ahead=look_aheads, segmenter=segmenters)
def test_published_tags_are_consistent(
    data: st.DataObject, speech: list[Said], chosen: DecodingRules, look_ahead: int, segmenter: SegmenterFactory
) -> None:
    segments = _decode(_driver(chosen, look_ahead, segmenter), data.draw(groupings(speech)))

    previous = "O"
    for word in (word for segment in segments for word in segment.words):
        if word.disfluency.startswith("I-"):
            assert previous[2:] == word.disfluency[2:]
        previous = word.disfluency


@EXAMPLES
@given(data=st.data(), speech=speeches, chosen=rules, look_ahead=look_aheads, segmenter=segmenters)
def test_the_replay_offset_reaches_back_to_every_word_in_the_buffer(
    data: st.DataObject, speech: list[Said], chosen: DecodingRules, look_ahead: int, segmenter: SegmenterFactory
) -> None:
    driver = _driver(chosen, look_ahead, segmenter)
    for timed in data.draw(groupings(speech)):
        driver.give(timed.event, after_ms=timed.after_ms)
        state = driver.state()
        kept = [piece.offset for word in state.buffer for piece in word.pieces] + [u.offset for u in state.held.units]
        replay = driver.sessions.replay_offset
        if kept:
            assert replay is not None
            assert replay <= min(kept)
        if state.output.index == 0:
            assert replay == state.since
