"""What holds for every speech, however it is cut into events, and whatever happens on the way."""

from __future__ import annotations

import dataclasses
import inspect
import random
import sys
import textwrap
from itertools import pairwise
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from typing_extensions import override

from caesura.schemas.codec import encode_segment
from caesura.schemas.dead_letters import DeadLetterReason
from caesura.schemas.events import Emission, SessionOptions, Word
from caesura.schemas.segments import Cause, Gap, Segment
from caesura.schemas.state import HeldBack, ModelWord
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.core.decoding.admission import OfferOutcome, PassedGap
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.language.words import (
    SegmenterFactory,
    WhitespaceSegmenter,
    WordSegmenter,
    whitespace_segmenters,
)
from caesura.worker.core.session import session_work, stream
from caesura.worker.core.session.batching import FLOOD_WORDS, BatchLimits, LabelQueue, PendingLabels, next_batch
from caesura.worker.core.session.stream import StreamingLabeller
from tests.harness.partition_driver import MARKED, NOW_MS, Driver, event, however_grouped, pair_segmenters
from tests.harness.speech import said
from tests.harness.speeches import Said, Timed, groupings, look_aheads, rules, speeches, words

segmenters = st.sampled_from([whitespace_segmenters, pair_segmenters])


def _driver(chosen: DecodingRules, look_ahead: int, segmenter: SegmenterFactory, *, lazy: bool = False) -> Driver:
    engine = ScriptedEngine(look_ahead_words=look_ahead)
    return Driver(rules=chosen, engine=engine, segmenters=segmenter, lazy=lazy)


def _decode(driver: Driver, events: list[Timed]) -> list[Segment]:
    for timed in events:
        assert driver.give(timed.event, after_ms=timed.after_ms).outcome is OfferOutcome.ACCEPTED
    driver.work()
    return driver.segments


@given(data=st.data(), speech=speeches, chosen=rules, look_ahead=look_aheads, segmenter=segmenters)
def test_every_word_is_published_once_and_in_order_in_well_formed_segments(
    data: st.DataObject, speech: list[Said], chosen: DecodingRules, look_ahead: int, segmenter: SegmenterFactory
) -> None:
    driver = _driver(chosen, look_ahead, segmenter)
    segments = _decode(driver, data.draw(groupings(speech)))

    assert "".join(said(segments)) == "".join(word for one in speech for word in one.words)
    if segmenter is whitespace_segmenters:
        assert said(segments) == [word for one in speech for word in one.words]
    _check_numbers_and_sentences(segments)
    _check_tags(segments)
    assert max((len(request.words) for request in driver.requests), default=0) <= chosen.max_buffer_words


def _check_numbers_and_sentences(segments: list[Segment]) -> None:
    """Check that segments are numbered without a hole, and that each lies in one sentence."""
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


def _check_tags(segments: list[Segment]) -> None:
    previous = "O"
    for word in (word for segment in segments for word in segment.words):
        if word.disfluency.startswith("I-"):
            assert previous[2:] == word.disfluency[2:]
        previous = word.disfluency


@given(data=st.data(), speech=speeches, chosen=rules, look_ahead=look_aheads, segmenter=segmenters)
def test_grouping_and_polling_of_words_changes_nothing(
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


@given(data=st.data(), speech=speeches, chosen=rules, look_ahead=look_aheads)
def test_stored_frozen_words_equal_the_published_ones(
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


words_of_letters = words.map(lambda spoken: tuple(text.replace("c-", "cd-") for text in spoken))
"""Between single letters a rule takes away the engine's marks, which are what is compared."""


@given(spoken=words_of_letters, chosen=rules, look_ahead=look_aheads)
def test_later_labellings_agree_with_settled_words(
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


@given(
    spoken=words, chosen=rules, look_ahead=look_aheads, emission=st.sampled_from([Emission.SETTLED, Emission.CLAUSE])
)
def test_before_a_sentence_ends_a_word_waits_for_look_ahead_a_step_and_its_emissions_words(
    spoken: tuple[str, ...], chosen: DecodingRules, look_ahead: int, emission: Emission
) -> None:
    chosen = dataclasses.replace(chosen, emission=emission)
    together = chosen.min_settled_words if emission is Emission.SETTLED else chosen.max_clause_words
    driver = _driver(chosen, look_ahead, whitespace_segmenters)
    for seq, text in enumerate(spoken * 2):
        driver.give(event(seq, text))
        waiting = seq + 1 - len(said(driver.segments))
        assert waiting <= look_ahead + chosen.step_words - 1 + together - 1
    for segment in driver.segments if emission is Emission.CLAUSE else ():
        if segment.cause is Cause.SETTLED and segment.words[-1].punctuation == "none":
            assert len(segment.words) >= chosen.max_clause_words


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


Words = dict[str, list[tuple[str, str]]]


class Interrupted(BaseException):
    """What Ctrl-C is."""


class _Interrupting:
    """Raises on the k-th line of the work that is run in ``session_work``; not where it is taken out."""

    def __init__(self, at: int) -> None:
        self.lines = 0
        self._at = at

    def trace(self, frame: FrameType, kind: str, _: object) -> object:
        if frame.f_code.co_filename != session_work.__file__ or frame.f_code.co_name == "take_segments":
            return None
        if kind == "line":
            self.lines += 1
            if self.lines == self._at:
                raise Interrupted
        return self.trace


def worked(at: int) -> tuple[Words, int]:
    """Return each session's words and marks where the work was interrupted once, and how many lines there are."""
    driver = Driver(lazy=True, engine=MARKED, rules=DecodingRules(look_ahead_words=0))
    for name in "abc":
        driver.give(event(0, f"{name} so-stop " + "w " * 8, session=name, session_end=True))
    interrupting = _Interrupting(at)
    before = sys.gettrace()
    sys.settrace(interrupting.trace)  # type: ignore[arg-type]
    try:
        driver.work()
    except Interrupted:
        pass
    finally:
        sys.settrace(before)
    driver.work()
    assert not driver.sessions.is_busy
    words: Words = {}
    for segment in driver.segments:
        words.setdefault(segment.session, []).extend((word.text, word.punctuation) for word in segment.words)
    return words, interrupting.lines


def test_work_interrupted_on_any_line_gives_every_word_its_own_label() -> None:
    whole, lines = worked(at=0)
    assert {name: len(words) for name, words in whole.items()} == {"a": 10, "b": 10, "c": 10}
    assert lines > 50
    for at in range(1, lines + 1):
        assert worked(at)[0] == whole, f"interrupted on line {at} of {lines}"


class _Refusing(WhitespaceSegmenter):
    @override
    def push(self, units: object) -> list[ModelWord]:
        raise RuntimeError


def test_a_session_that_raises_keeps_no_other_from_being_asked() -> None:
    def segmenters(language: str, held: HeldBack) -> WordSegmenter:
        return _Refusing(held) if language == "xx" else WhitespaceSegmenter(held)

    driver = Driver(lazy=True, segmenters=segmenters)
    driver.give(event(0, "one two three", session="a", lang="xx"))
    driver.give(event(0, "one two three", session="b", utterance_end=True))
    asked: list[str] = []
    for _ in range(2):
        try:
            asked = [one.request.session for one in driver.sessions.waiting(NOW_MS)]
        except RuntimeError:
            continue
    assert asked == ["b"]


def test_a_repeat_is_dropped_by_its_number_counted_and_changes_nothing() -> None:
    driver = Driver()
    driver.give(event(0, "yes"))
    before = driver.state()
    driver.sessions.settle()
    assert driver.give(event(0, "yes"), after_ms=100).outcome is OfferOutcome.REPEAT
    assert driver.state() == before
    assert not driver.sessions.touched

    assert driver.give(event(1, "yes")).outcome is OfferOutcome.ACCEPTED
    driver.give(event(2, session_end=True))
    assert said(driver.segments) == ["yes", "yes"]
    assert driver.context.counts.repeats == 1


def test_a_gap_stands_in_the_segment_that_holds_the_word_after_it() -> None:
    driver = Driver()
    driver.give(event(0, "one two"))
    admission = driver.give(event(3, "three", utterance_end=True))
    driver.give(event(4, "four", session_end=True))

    assert admission.gap == PassedGap(epoch=0, first_seq=1, last_seq=2)
    assert [segment.gaps for segment in driver.segments] == [
        (Gap(epoch=0, first_seq=1, last_seq=2, before_word=2),),
        (),
    ]
    assert (driver.context.counts.gaps, driver.context.counts.missed_events) == (1, 2)


def test_a_gap_between_two_segments_stands_in_the_second() -> None:
    driver = Driver(engine=ScriptedEngine(script=marked_words))
    driver.give(event(0, "one two-stop"))
    driver.give(event(2, "three four five six seven eight nine", session_end=True))

    assert [[gap.before_word for gap in segment.gaps] for segment in driver.segments] == [[], [2]]


def test_a_gap_after_the_last_word_stands_in_the_closing_record() -> None:
    driver = Driver()
    driver.give(event(0, "one", utterance_end=True))
    driver.give(event(2, session_end=True))

    assert [segment.gaps for segment in driver.segments] == [
        (),
        (Gap(epoch=0, first_seq=1, last_seq=1, before_word=1),),
    ]


def test_a_session_whose_first_events_never_came_begins_with_a_gap() -> None:
    driver = Driver()
    driver.give(event(2, "one", session_end=True))

    assert driver.segments[0].gaps == (Gap(epoch=0, first_seq=0, last_seq=1, before_word=0),)


def test_of_very_many_gaps_the_last_told_reaches_to_the_end() -> None:
    driver = Driver()
    for seq in range(0, 6_000, 2):
        driver.give(event(seq))
    assert len(driver.state().output.gaps) == 64
    driver.give(event(6_000, "one", utterance_end=True))

    gaps = driver.segments[0].gaps
    assert [(gap.first_seq, gap.last_seq) for gap in gaps[:2]] == [(1, 1), (3, 3)]
    assert (gaps[-1].first_seq, gaps[-1].last_seq, gaps[-1].before_word) == (127, 5_999, 0)
    assert (len(gaps), driver.context.counts.gaps, driver.context.counts.missed_events) == (64, 3_000, 3_000)
    assert len(encode_segment(driver.segments[0])) < 10_000


def test_of_very_many_epochs_with_gaps_the_latest_are_told() -> None:
    driver = Driver()
    for epoch in range(500):
        driver.give(event(7, epoch=epoch))
    driver.give(event(8, "one", epoch=499, utterance_end=True))

    assert [gap.epoch for gap in driver.segments[0].gaps] == list(range(436, 500))


def test_characters_across_a_gap_are_never_joined() -> None:
    driver = Driver(segmenters=pair_segmenters)
    driver.give(event(0, "one"))
    driver.give(event(2, "two", session_end=True))

    assert driver.requests[-1].words == ("one", "two")
    assert [gap.before_word for segment in driver.segments for gap in segment.gaps] == [1]


def test_an_event_that_comes_after_its_gap_was_passed_is_late() -> None:
    driver = Driver()
    driver.give(event(0, "one"))
    driver.give(event(2, "three"))

    late = driver.give(event(1, "two"))

    assert (late.outcome, late.reason) == (OfferOutcome.REFUSED, DeadLetterReason.LATE)
    assert driver.give(event(1, "two")).reason is DeadLetterReason.LATE
    assert driver.give(event(0, "one")).outcome is OfferOutcome.REPEAT


def test_a_higher_epoch_counts_from_zero_again_and_a_lower_one_is_stale() -> None:
    driver = Driver()
    driver.give(event(7, "one"))

    assert driver.give(event(0, "two", epoch=2)).gap is None
    assert driver.give(event(8, "three")).reason is DeadLetterReason.STALE_EPOCH
    assert driver.give(event(1, "four", epoch=2)).gap is None
    assert driver.give(event(3, "five", epoch=2)).gap == PassedGap(epoch=2, first_seq=2, last_seq=2)


def test_after_very_many_gaps_a_late_event_is_still_no_repeat() -> None:
    driver = Driver()
    for seq in range(0, 400, 2):
        driver.give(event(seq, "word"))

    assert driver.give(event(1, "word")).reason is DeadLetterReason.LATE
    assert driver.give(event(397, "word")).reason is DeadLetterReason.LATE
    assert len(driver.state().admission.missed) < 100


@given(st.permutations(range(8)), st.lists(st.integers(0, 7), max_size=8))
def test_in_any_order_every_event_is_applied_refused_or_known_as_a_repeat(order: list[int], again: list[int]) -> None:
    driver = Driver()
    applied: set[int] = set()
    refused: set[int] = set()
    for seq in [*order, *again]:
        admission = driver.give(event(seq, f"w{seq}"))
        if admission.outcome is OfferOutcome.ACCEPTED:
            assert seq not in applied | refused
            applied.add(seq)
        elif admission.outcome is OfferOutcome.REPEAT:
            assert seq in applied
        else:
            assert seq not in applied
            refused.add(seq)

    driver.give(event(8, session_end=True))
    assert said(driver.segments) == [f"w{seq}" for seq in sorted(applied)]
    passed = {
        seq for segment in driver.segments for gap in segment.gaps for seq in range(gap.first_seq, gap.last_seq + 1)
    }
    assert passed == set(range(8)) - applied


def test_the_documented_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    paragraphs = (inspect.getdoc(stream) or "").split("\n\n")
    example = textwrap.dedent("\n".join(one for one in paragraphs if one.startswith("    ")))
    spoken = ["so", "uh", "this", "is", "the", "first-stop", "and", "here", "comes", "a", "second", "one"]

    exec(compile(example, "example", "exec"), {"engine": MARKED, "microphone_words": lambda: spoken})  # noqa: S102

    assert capsys.readouterr().out == "so uh this is the first-stop\nand here comes a second one\n"
    assert len(example.strip().splitlines()) <= 10


def test_words_may_come_with_their_times_and_in_any_number() -> None:
    words = [Word(text=f"n{number}", start_ms=number, confidence=0.5) for number in range(30)]
    at_once, one_by_one = StreamingLabeller(ScriptedEngine(), "en"), StreamingLabeller(ScriptedEngine(), "en")

    whole = [*at_once.add(words), *at_once.end()]
    single = [segment for word in words for segment in one_by_one.add([word])] + one_by_one.end()

    assert [one.words for one in whole] == [one.words for one in single]
    assert [(word.text, word.start_ms, word.confidence) for one in whole for word in one.words] == [
        (word.text, word.start_ms, word.confidence) for word in words
    ]


def test_a_pause_freezes_what_is_there_and_the_stream_goes_on() -> None:
    labeller = StreamingLabeller(MARKED, "en", options=SessionOptions(punctuation=False))
    labeller.add(["one", "two"])

    assert [(one.cause, said([one])) for one in labeller.pause()] == [(Cause.UTTERANCE, ["one", "two"])]
    assert labeller.add(["three"]) == []
    assert [(one.cause, said([one])) for one in labeller.end()] == [(Cause.END, ["three"])]


def test_a_labeller_refuses_words_after_the_end() -> None:
    labeller = StreamingLabeller(MARKED, "en")
    labeller.end()

    with pytest.raises(ValueError, match="ended"):
        labeller.add(["one"])


@pytest.mark.parametrize("seed", range(4))
def test_looking_ahead_changes_no_frozen_label(seed: int) -> None:
    rules = DecodingRules(max_context_words=0, context_words=2, look_ahead_words=12, max_buffer_words=60)

    def heard(*, looks_ahead: bool) -> list[Segment]:
        drawn, found = random.Random(seed), []
        labeller = StreamingLabeller(ScriptedEngine(), "en", rules, looks_ahead=looks_ahead)
        for _ in range(12):
            found += labeller.add([f"w{drawn.randrange(50)}" for _ in range(drawn.randrange(1, 9))])
            found += labeller.pause() if drawn.random() < 0.5 else []
        return found + labeller.end()

    assert heard(looks_ahead=True) == heard(looks_ahead=False)


LIMITS = BatchLimits(max_sessions=4, max_words=150)


def _pending(name: int, words: int, since_ms: int, queued_words: int = 0) -> PendingLabels:
    request = LabelRequest(session=f"s{name}", model_id="m@1", buffer_start=0, words=("w",) * words)
    return PendingLabels(partition=0, request=request, waiting_since_ms=since_ms, queued_words=queued_words)


def batches_of(pending: list[PendingLabels]) -> list[list[PendingLabels]]:
    """Return all batches, in the order in which they are run; who waits belongs to three partitions by turns."""
    queues = [LabelQueue(), LabelQueue(), LabelQueue()]
    for place, one in enumerate(pending):
        queues[place % 3].put(one)
    batches = []
    while any(queues):
        batches.append(next_batch(queues, LIMITS))
    return batches


waiting = st.lists(
    st.tuples(st.integers(1, 120), st.integers(0, 50), st.sampled_from([0, 0, FLOOD_WORDS, FLOOD_WORDS + 1])),
    max_size=40,
).map(lambda drawn: [_pending(name, *one) for name, one in enumerate(drawn)])


@given(waiting)
def test_every_pending_session_is_in_one_batch_that_keeps_the_limits_and_floods_come_last(
    pending: list[PendingLabels],
) -> None:
    batches = batches_of(pending)
    batched = [one.request.session for batch in batches for one in batch]
    assert sorted(batched) == sorted(one.request.session for one in pending)
    left = list(pending)
    for batch in batches:
        assert len(batch) <= LIMITS.max_sessions
        assert len(batch) == 1 or sum(len(one.request.words) for one in batch) <= LIMITS.max_words
        first = min(left, key=lambda one: (one.queued_words > FLOOD_WORDS, one.waiting_since_ms))
        key = (batch[0].queued_words > FLOOD_WORDS, batch[0].waiting_since_ms)
        assert key == (first.queued_words > FLOOD_WORDS, first.waiting_since_ms), "it begins with the longest wait"
        left = [one for one in left if one not in batch]
    for batch, following in pairwise(batches):
        more = [*batch, following[0]]
        assert len(more) > LIMITS.max_sessions or sum(len(one.request.words) for one in more) > LIMITS.max_words


@given(waiting, st.lists(st.integers(0, 39)), st.lists(st.integers(0, 39)))
def test_what_a_session_wanted_before_is_in_no_batch(
    pending: list[PendingLabels], again: list[int], gone: list[int]
) -> None:
    queue, wanted = LabelQueue(), {one.request.session: one for one in pending}
    for one in pending:
        queue.put(one)
    for name in (name for place in again for name in [f"s{place}"] * 40 if name in wanted):
        wanted[name] = _pending(int(name[1:]), 1, len(wanted[name].request.words))
        queue.put(wanted[name])
    for name in {f"s{place}" for place in gone}:
        wanted.pop(name, None)
        queue.drop(name)
    assert {one.request.session: one for one in queue} == wanted
    batched = []
    while queue:
        batched += next_batch([queue], LIMITS)
    assert {one.request.session: one for one in batched} == wanted
    assert len(batched) == len(wanted)
    assert set(queue.unsure) == set(wanted), "what they want afterwards is not known"


def test_a_session_that_floods_is_named_once_until_it_stops() -> None:
    queue, named = LabelQueue(), []
    for queued_words in (900, 1200, 0, 400):
        queue.put(_pending(0, 1, 0, queued_words))
        named.append(queue.begun_floods())
    queue.drop("s0")
    named.append(queue.begun_floods())
    assert named == [{"s0": 900}, {}, {}, {"s0": 400}, {}]


def test_buffers_of_any_length_share_a_batch_in_the_order_in_which_they_wait() -> None:
    pending = [_pending(0, 20, 3), _pending(1, 100, 2), _pending(2, 21, 1), _pending(3, 21, 4)]

    batches = [[one.request.session for one in batch] for batch in batches_of(pending)]
    assert batches == [["s2", "s1", "s0"], ["s3"]]
