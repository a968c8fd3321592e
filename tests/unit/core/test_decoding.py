"""Steps, cuts, lengths, options and what a segment says, one promise each (docs/design.md, *Decoding*)."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from caesura.schemas.events import Emission, SessionOptions, Word
from caesura.schemas.labels import Casing, Disfluency, Labels, Punctuation, probability_number
from caesura.schemas.segments import Cause, Piece
from caesura.schemas.state import encode_state
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.core.language.labelling import Probabilities
from caesura.worker.core.language.rules import Bounds, DecodingRules, OptionBounds
from tests.harness.partition_driver import MARKED, NOW_MS, Driver, event, numbered, pair_segmenters
from tests.harness.speech import said


def test_steps_are_made_inside_an_event_and_never_merged() -> None:
    driver = Driver(engine=MARKED)
    driver.give(event(0, numbered(16)))

    assert [len(request.words) for request in driver.requests] == [9, 12, 15]


def test_a_step_asks_for_usable_labels_that_are_not_settled() -> None:
    driver = Driver(engine=MARKED)  # T is 6, L is 9
    driver.give(event(0, numbered(15)))
    assert [request.wanted for request in driver.requests] == [range(3), range(6), range(3, 9)]

    driver.give(event(1, "n15", utterance_end=True))
    driver.give(event(2, numbered(8, 16)))
    assert [request.wanted for request in driver.requests[3:]] == [range(6, 16), range(16, 18)]


def test_a_long_waiting_step_asks_for_what_is_settled() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(look_ahead_words=20, bounds=OptionBounds()))
    driver.give(event(0, numbered(18)))

    assert [request.wanted for request in driver.requests] == [range(3), range(3, 6), range(6, 9)]


def test_a_step_that_must_make_room_asks_for_the_words_that_have_to_go() -> None:
    rules = DecodingRules(max_buffer_words=7, bounds=OptionBounds(max_buffer_words=Bounds(least=7, most=300)))
    driver = Driver(engine=MARKED, rules=rules)
    driver.give(event(0, numbered(9)))

    assert [request.wanted for request in driver.requests] == [range(2), range(3)]
    assert [(one.cause, len(one.words)) for one in driver.segments] == [(Cause.LENGTH, 2), (Cause.LENGTH, 3)]


def test_a_sentence_is_cut_when_enough_words_have_followed_it() -> None:
    driver = Driver(engine=MARKED)
    driver.give(event(0, "one two-stop " + numbered(6)))
    assert driver.segments == []

    driver.give(event(1, numbered(1, 6)))
    assert [said([one]) for one in driver.segments] == [["one", "two-stop"]]
    assert driver.segments[0].cause is Cause.SENTENCE


def test_one_step_cuts_every_sentence_that_has_enough_words_after_it() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(step_words=12))
    driver.give(event(0, "one-stop two-ask three four-stop " + numbered(8)))

    assert [said([one]) for one in driver.segments] == [["one-stop"], ["two-ask"], ["three", "four-stop"]]


def test_settled_words_go_out_before_their_sentence_ends() -> None:
    rules = DecodingRules(min_settled_words=2)
    driver = Driver(engine=ScriptedEngine(look_ahead_words=4, script=marked_words), rules=rules)
    driver.give(event(0, numbered(6), options=SessionOptions(emission=Emission.SETTLED)))

    (segment,) = driver.segments
    assert (segment.cause, said([segment]), segment.sentence_end) == (Cause.SETTLED, ["n0", "n1"], False)


def test_a_settled_prefix_that_is_too_short_waits_unless_its_sentence_has_ended() -> None:
    rules = DecodingRules(emission=Emission.SETTLED, min_settled_words=4, look_ahead_words=8)
    driver = Driver(engine=ScriptedEngine(look_ahead_words=4, script=marked_words), rules=rules)
    driver.give(event(0, "one two " + numbered(4)))
    assert driver.segments == []

    driver = Driver(engine=driver.engine, rules=rules)
    driver.give(event(0, "one-stop two " + numbered(4)))
    assert [(one.cause, said([one])) for one in driver.segments] == [(Cause.SENTENCE, ["one-stop"])]


def _clauses(
    spoken: str, *, min_clause_words: int, max_clause_words: int = 20, look_ahead_words: int = 4
) -> list[tuple[Cause, list[str]]]:
    rules = DecodingRules(
        emission=Emission.CLAUSE,
        clause_look_ahead_words=look_ahead_words,
        min_clause_words=min_clause_words,
        max_clause_words=max_clause_words,
    )
    driver = Driver(engine=ScriptedEngine(look_ahead_words=4, script=marked_words), rules=rules)
    driver.give(event(0, spoken))
    return [(segment.cause, said([segment])) for segment in driver.segments]


def test_a_clause_goes_out_at_its_settled_mark_and_other_words_wait() -> None:
    assert _clauses("if it rains-comma we stay " + numbered(4), min_clause_words=2) == [
        (Cause.SETTLED, ["if", "it", "rains-comma"])
    ]
    assert _clauses("if it rains we stay " + numbered(4), min_clause_words=2) == []


def test_a_clause_or_sentence_goes_out_with_fewer_words_after_its_mark() -> None:
    spoken = "if it rains-comma we stay n0"
    assert _clauses(spoken, min_clause_words=2, look_ahead_words=3) == [(Cause.SETTLED, ["if", "it", "rains-comma"])]
    assert _clauses(spoken, min_clause_words=2) == []
    ended = "if it rains-stop we stay n0"
    assert _clauses(ended, min_clause_words=9, look_ahead_words=3) == [(Cause.SENTENCE, ["if", "it", "rains-stop"])]


def test_a_clause_waits_for_no_more_words_than_settle_its_mark() -> None:
    spoken = "if it rains-comma we stay " + numbered(4)
    assert _clauses(spoken, min_clause_words=2, look_ahead_words=50) == _clauses(spoken, min_clause_words=2)


def test_a_clause_of_too_few_words_waits_for_the_next_mark() -> None:
    spoken = "well-comma if it rains-comma we stay in-stop " + numbered(5)
    assert _clauses(spoken, min_clause_words=2) == [
        (Cause.SETTLED, ["well-comma", "if", "it", "rains-comma"]),
        (Cause.SENTENCE, ["we", "stay", "in-stop"]),
    ]
    assert _clauses(spoken, min_clause_words=5) == [(Cause.SENTENCE, spoken.split()[:7])]


def test_a_clause_without_a_mark_goes_out_at_its_length_limit() -> None:
    assert _clauses(numbered(12), min_clause_words=2, max_clause_words=8) == [(Cause.SETTLED, numbered(8).split())]


def test_a_full_buffer_is_cut_at_its_last_comma_with_enough_words_after_it() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(max_buffer_words=24))
    driver.give(event(0, numbered(9) + " early-comma " + numbered(4) + " late-list " + numbered(9)))

    (segment,) = driver.segments
    assert (segment.cause, segment.words[-1].text) == (Cause.LENGTH, "late-list")


def test_a_full_buffer_without_a_comma_is_cut_at_its_settled_prefix() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(max_buffer_words=24))
    driver.give(event(0, numbered(24)))

    (segment,) = driver.segments
    assert (segment.cause, len(segment.words), segment.sentence_end) == (Cause.LENGTH, 24 - 9, False)


def test_a_comma_that_would_not_make_room_for_the_next_step_is_passed_over() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(max_buffer_words=24))
    driver.give(event(0, "early-comma " + numbered(23)))

    (segment,) = driver.segments
    assert (segment.cause, len(segment.words)) == (Cause.LENGTH, 24 - 9)


def test_a_flush_labels_again_only_what_the_last_step_left_after_a_cut() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(max_context_words=0, context_words=1, utterance_end_offset=0.0))
    driver.give(event(0, "one two-stop " + numbered(7), utterance_end=True))
    assert [(len(request.words), request.wanted) for request in driver.requests] == [(9, range(3)), (8, range(1, 8))]

    driver = Driver(engine=MARKED, rules=DecodingRules(look_ahead_words=0, utterance_end_offset=0.0))
    driver.give(event(0, numbered(9), utterance_end=True))
    assert [request.wanted for request in driver.requests] == [range(3), range(6), range(9)]


def test_a_tag_continues_over_a_silence_but_not_over_a_cleared_buffer() -> None:
    def always_inside(*_window: object) -> tuple[int, int]:
        return Punctuation.NONE, Disfluency.I_RM

    driver = Driver(engine=ScriptedEngine(script=always_inside))
    driver.give(event(0, "ant bee", utterance_end=True))
    driver.restart()
    driver.give(event(1, "cow"))
    driver.give(event(2, "dog", lang="zh", session_end=True))

    tags = [word.disfluency for segment in driver.segments for word in segment.words]
    assert tags == ["B-RM", "I-RM", "I-RM", "B-RM"]


def test_a_session_chooses_within_the_operators_bounds_in_its_first_event_only() -> None:
    bounds = OptionBounds(
        emissions=frozenset({Emission.SENTENCE}),
        look_ahead_words=Bounds(least=2, most=8),
        punctuation_may_be_off=False,
    )
    wishes = SessionOptions(
        emission=Emission.SETTLED, look_ahead_words=1, flush_after_ms=90_000, max_buffer_words=77, punctuation=False
    )
    driver = Driver(rules=DecodingRules(bounds=bounds))
    driver.give(event(0, "one", options=wishes))
    driver.give(event(1, "two", options=SessionOptions(look_ahead_words=5)))

    chosen = driver.state().admission.options
    assert (chosen.emission, chosen.look_ahead_words, chosen.flush_after_ms) == (Emission.SENTENCE, 2, 10_000)
    assert (chosen.max_buffer_words, chosen.punctuation) == (77, True)


def test_with_punctuation_off_no_sentence_is_cut() -> None:
    driver = Driver(engine=MARKED)
    driver.give(event(0, "uh one-stop " + numbered(10), options=SessionOptions(punctuation=False)))
    driver.give(event(1, session_end=True))

    (segment,) = driver.segments
    assert {word.punctuation for word in segment.words} == {"none"}
    assert segment.words[0].disfluency == "B-IM"


def test_labels_spread_over_the_pieces_of_a_word() -> None:
    def script(model: str, words: object, position: int, look_ahead_words: int) -> tuple[int, int, int]:
        assert (model, words, look_ahead_words) == ("scripted-en@1", ("onetwo", "three-"), 9)
        return (1, 1, Casing.CAPITAL_FIRST) if position == 0 else (2, 4, Casing.ALL_CAPITALS)

    driver = Driver(engine=ScriptedEngine(script=script), segmenters=pair_segmenters)
    driver.give(event(0, [Word(text="one", start_ms=5), Word(text="two"), Word(text="three-")], utterance_end=True))

    words = [word for segment in driver.segments for word in segment.words]
    assert [(word.text, word.punctuation, word.disfluency, word.casing) for word in words] == [
        ("one", "none", "B-RM", "capital_first"),
        ("two", "comma", "I-RM", "small"),
        ("three-", "period", "B-IM", "all_capitals"),
    ]
    assert (words[0].start_ms, words[0].piece) == (5, None)


def test_a_unit_of_two_words_is_published_in_pieces_with_its_times() -> None:
    driver = Driver(engine=ScriptedEngine(script=marked_words), segmenters=pair_segmenters)
    driver.give(event(0, [Word(text="ab-cd", start_ms=10, end_ms=20, confidence=0.5)], utterance_end=True))

    words = [word for segment in driver.segments for word in segment.words]
    assert [(word.text, word.piece) for word in words] == [("ab-", Piece(start=0, of=5)), ("cd", Piece(start=3, of=5))]
    assert {(word.start_ms, word.end_ms, word.confidence) for word in words} == {(10, 20, 0.5)}


def test_a_segment_names_its_records_and_when_it_was_appended_polled_and_frozen() -> None:
    driver = Driver(engine=MARKED)
    driver.give(event(0, "zero", utterance_end=True))
    driver.give(event(1, "one"))
    driver.give(event(2, "two"), after_ms=100)
    driver.give(event(3, utterance_end=True), after_ms=100)

    source, timing = driver.segments[1].source, driver.segments[1].timing
    assert (source.topic, source.partition, source.first_offset, source.last_offset) == ("asr.words", 3, 1, 2)
    assert (timing.appended_ms, timing.polled_ms, timing.frozen_ms) == (NOW_MS + 100, NOW_MS + 105, NOW_MS)


def test_freeze_delays_are_counted_in_words() -> None:
    driver = Driver(engine=MARKED)
    driver.give(event(0, "one two-stop " + numbered(7)))

    assert driver.context.counts.freeze_delay_words == {8: 1, 7: 1}
    assert driver.context.counts.segments == {Cause.SENTENCE: 1}


@pytest.mark.parametrize(("context_words", "kept"), [(0, 0), (2, 2), (10, 4)])
def test_the_last_words_before_a_cut_stay_as_left_context_and_come_out_once(context_words: int, kept: int) -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(max_context_words=0, context_words=context_words))
    driver.give(event(0, "one two three four-stop " + numbered(8)))
    assert driver.requests[-1].words[:4] == ("one", "two", "three", "four-stop")
    driver.give(event(1, "twelve thirteen fourteen", session_end=True))

    assert driver.requests[-1].words[: kept + 1] == (*("one", "two", "three", "four-stop")[4 - kept :], "n0")
    assert [said([one])[-1] for one in driver.segments] == ["four-stop", "fourteen"]
    assert len(said(driver.segments)) == 4 + 8 + 3


def test_several_sentences_ended_in_one_step_leave_earlier_context() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(step_words=12, max_context_words=0, context_words=2))
    driver.give(event(0, "one two-stop three four five-ask " + numbered(7) + " " + numbered(12)))

    assert [said([one]) for one in driver.segments] == [["one", "two-stop"], ["three", "four", "five-ask"]]
    assert driver.requests[-1].words[:3] == ("four", "five-ask", "n0")


def test_left_context_is_the_first_to_go_where_the_buffer_is_full() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(max_buffer_words=24))
    driver.give(event(0, "one two three-stop " + numbered(21)))

    assert [(one.cause, len(one.words)) for one in driver.segments] == [(Cause.SENTENCE, 3)]
    assert driver.state().buffer[0].view == "n0"


def test_labels_of_left_context_are_final() -> None:
    def changes_its_mind(_model: str, words: Sequence[str], position: int, _look_ahead: int) -> tuple[int, int]:
        ends = words[position] == "stop" or (words[position] == "two" and "late" in words)
        return (Punctuation.PERIOD if ends else Punctuation.NONE), 0

    driver = Driver(engine=ScriptedEngine(script=changes_its_mind))
    driver.give(event(0, "one two stop " + numbered(6)))
    driver.give(event(1, "late late late", session_end=True))

    assert [said([one]) for one in driver.segments] == [
        ["one", "two", "stop"],
        [*numbered(6).split(), "late", "late", "late"],
    ]
    assert driver.requests[-1].words[:3] == ("one", "two", "stop")
    assert driver.segments[0].words[1].punctuation == "none"


_MARK, _TAG, _TURN = 83, 97, 62
_MARKS = {"stop": Punctuation.PERIOD, "hundred": Punctuation.COMMA}
_TAGS = {"uh": Disfluency.B_IM, "very": Disfluency.B_RM}


def _script(_: str, words: Sequence[str], place: int, __: int) -> tuple[int, ...]:
    last = place == len(words) - 1
    sure = probability_number(_MARK), probability_number(_TAG), probability_number(_TURN) if last else 0
    return _MARKS.get(words[place], 0), _TAGS.get(words[place], 0), 0, *sure


def _driver(probabilities: Probabilities = Probabilities.WORDS, *, looks_ahead: bool = False) -> Driver:
    return Driver(
        rules=DecodingRules(probabilities=probabilities), engine=ScriptedEngine(script=_script), looks_ahead=looks_ahead
    )


def test_a_words_mark_and_tag_come_with_how_sure_the_model_was_of_them() -> None:
    driver = _driver()
    driver.give(event(0, "so uh yes", utterance_end=True))
    assert [(word.punctuation_probability, word.disfluency_probability) for word in driver.segments[0].words] == [
        (0.83, 0.97)
    ] * 3


def test_only_silence_or_utterance_segments_say_whether_one_has_finished() -> None:
    driver = _driver()
    driver.give(event(0, "are you stop " + "and so on " * 3, utterance_end=True))
    driver.give(event(1, "I am"))
    driver.wait(1_000)
    driver.give(event(2, "bye now", session_end=True))
    assert [(one.cause, one.turn_end) for one in driver.segments] == [
        (Cause.SENTENCE, None),
        (Cause.UTTERANCE, 0.62),
        (Cause.SILENCE, 0.62),
        (Cause.END, None),
    ]


def test_of_a_tag_or_mark_that_a_rule_took_away_the_probability_is_not_known() -> None:
    driver = _driver()
    driver.give(event(0, "six hundred five very very good", utterance_end=True))
    words = driver.segments[0].words
    assert [word.disfluency for word in words] == ["O", "O", "O", "O", "B-RM", "O"]
    assert [word.disfluency_probability for word in words] == [0.97, 0.97, 0.97, None, 0.97, 0.97]
    assert [word.punctuation for word in words] == ["none"] * 6
    assert [word.punctuation_probability for word in words] == [0.83, None, 0.83, 0.83, 0.83, 0.83]


def test_a_tag_that_only_begins_what_it_went_on_with_is_as_probable_as_it_was() -> None:
    labels = Labels(b"\0\0", bytes((Disfluency.I_RM, Disfluency.B_RM)), disfluency_probability=b"\5\7")
    changed = labels.with_tags(bytes((Disfluency.B_RM, Disfluency.O)))
    assert changed.disfluency_probability == b"\5\0"


def test_tentative_words_say_both_and_a_word_that_is_not_labelled_neither() -> None:
    driver = _driver(looks_ahead=True)
    driver.give(event(0, "so we go"))
    told = driver.sessions.tentative("s", NOW_MS)
    assert told is not None
    assert told.turn_end == 0.62
    assert told.words[0].punctuation_probability == 0.83
    driver.give(event(1, "home"))
    later = driver.sessions.tentative("s", NOW_MS)
    assert later is not None
    assert later.turn_end is None
    assert later.words[3].punctuation_probability is None


def test_a_word_of_two_pieces_has_its_marks_probability_on_the_last() -> None:
    driver = Driver(
        rules=DecodingRules(probabilities=Probabilities.WORDS),
        engine=ScriptedEngine(script=_script),
        segmenters=pair_segmenters,
    )
    driver.give(event(0, "good morning", utterance_end=True))
    words = driver.segments[0].words
    assert [word.punctuation_probability for word in words] == [None, 0.83]
    assert [word.disfluency_probability for word in words] == [0.97, 0.97]


def test_a_session_without_marks_of_ours_has_no_probability_of_them() -> None:
    driver = _driver()
    driver.give(event(0, "so stop", options=SessionOptions(punctuation=False), utterance_end=True))
    (segment,) = driver.segments
    assert [word.punctuation_probability for word in segment.words] == [None, None]
    assert [word.disfluency_probability for word in segment.words] == [0.97, 0.97]
    assert segment.turn_end == 0.62


def test_probabilities_are_stored_and_survive_a_restart() -> None:
    driver = _driver()
    driver.give(event(0, "so we go on"))
    driver.restart()
    driver.give(event(1, "now", utterance_end=True))
    assert {word.punctuation_probability for word in driver.segments[0].words} == {0.83}
    assert driver.state().decoding.labels.punctuation_probability == bytes([probability_number(_MARK)]) * 5


@pytest.mark.parametrize("wanted", Probabilities)
def test_a_request_asks_for_what_the_rules_say(wanted: Probabilities) -> None:
    driver = _driver(wanted)
    driver.give(event(0, "so we go"))
    driver.wait(1_000)
    assert {request.probabilities for request in driver.requests} == {wanted}


DRAWN = [
    DecodingRules(max_context_words=0, context_words=2, look_ahead_words=12, max_buffer_words=60),
    DecodingRules(emission=Emission.SETTLED),
    DecodingRules(look_ahead_words=0, max_buffer_words=12),
]


@pytest.mark.parametrize("rules", DRAWN)
@pytest.mark.parametrize("seed", range(3))
def test_state_and_segments_are_the_same_bytes_after_every_event(seed: int, rules: DecodingRules) -> None:
    without = Driver(rules=rules, engine=ScriptedEngine())
    looking = Driver(rules=rules, engine=ScriptedEngine(), looks_ahead=True)
    drawn = random.Random(seed)
    for seq in range(25):
        said = " ".join(f"w{drawn.randrange(50)}" for _ in range(drawn.randrange(1, 9)))
        one = event(seq, said, utterance_end=drawn.random() < 0.3)
        restarted = drawn.random() < 0.2
        for driver in (without, looking):
            driver.give(one)
            if restarted:
                driver.restart()
            driver.sessions.settle()
        assert encode_state(looking.state()) == encode_state(without.state())
        assert looking.segments == without.segments


def test_the_labels_of_now_are_those_that_a_labelling_of_all_words_gives() -> None:
    driver = Driver(looks_ahead=True)
    for seq in range(30):
        driver.give(event(seq, f"a{seq}"))
        told = driver.sessions.tentative("s", NOW_MS)
        assert told is not None
        assert told.first_word + told.labelled_words == (seq + 1) // 3 * 3
        for request in driver.requests[-1:]:
            (labels,) = driver.engine.label([request])
            first = request.buffer_start + request.first
            of_now = {first + place: mark for place, mark in enumerate(labels.punctuation)}
            for place, word in enumerate(told.words[: told.labelled_words], start=told.first_word):
                assert (word.punctuation != "none") == bool(of_now.get(place, word.punctuation != "none"))


def test_a_flush_takes_the_labels_that_were_there_and_asks_for_none_again() -> None:
    driver = Driver(looks_ahead=True)
    driver.give(event(0, "one two three"))
    assert len(driver.requests) == 1
    driver.wait(1_000)
    assert [one.cause for one in driver.segments][-1] is Cause.SILENCE
    assert len(driver.requests) == 1
