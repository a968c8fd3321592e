"""Steps, cuts, lengths, options and what a segment says, one promise each (docs/design.md, *Decoding*)."""

from __future__ import annotations

from caesura.schemas.events import Emission, SessionOptions, Word
from caesura.schemas.labels import Casing, Disfluency, Punctuation
from caesura.schemas.segments import Cause, Piece
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.core.language.rules import Bounds, DecodingRules, OptionBounds
from tests.harness.partition_driver import MARKED, NOW_MS, Driver, event, numbered, pair_segmenters
from tests.harness.speech import said


def test_steps_are_made_inside_an_event_and_never_merged() -> None:
    driver = Driver(engine=MARKED)
    driver.give(event(0, numbered(16)))

    assert [len(request.words) for request in driver.requests] == [9, 12, 15]


def test_a_step_asks_for_the_labels_that_it_can_use_and_that_are_not_settled_yet() -> None:
    driver = Driver(engine=MARKED)  # T is 6, L is 9
    driver.give(event(0, numbered(15)))
    assert [request.wanted for request in driver.requests] == [range(3), range(6), range(3, 9)]

    driver.give(event(1, "n15", utterance_end=True))
    driver.give(event(2, numbered(8, 16)))
    assert [request.wanted for request in driver.requests[3:]] == [range(6, 16), range(16, 18)]


def test_a_step_of_a_session_that_waits_longer_than_its_model_looks_asks_for_what_is_settled() -> None:
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


def _clauses(spoken: str, *, min_clause_words: int, max_clause_words: int = 20) -> list[tuple[Cause, list[str]]]:
    rules = DecodingRules(
        emission=Emission.CLAUSE,
        look_ahead_words=4,
        min_clause_words=min_clause_words,
        max_clause_words=max_clause_words,
    )
    driver = Driver(engine=ScriptedEngine(look_ahead_words=4, script=marked_words), rules=rules)
    driver.give(event(0, spoken))
    return [(segment.cause, said([segment])) for segment in driver.segments]


def test_a_clause_goes_out_when_its_mark_is_settled_and_words_without_a_mark_wait() -> None:
    assert _clauses("if it rains-comma we stay " + numbered(4), min_clause_words=2) == [
        (Cause.SETTLED, ["if", "it", "rains-comma"])
    ]
    assert _clauses("if it rains we stay " + numbered(4), min_clause_words=2) == []


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


def test_a_flush_labels_again_what_the_last_step_left_after_a_cut_and_nothing_else() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(max_context_words=0, context_words=1))
    driver.give(event(0, "one two-stop " + numbered(7), utterance_end=True))
    assert [(len(request.words), request.wanted) for request in driver.requests] == [(9, range(3)), (8, range(1, 8))]

    driver = Driver(engine=MARKED, rules=DecodingRules(look_ahead_words=0))
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


def test_with_punctuation_off_no_sentence_is_cut_and_disfluencies_are_still_marked() -> None:
    driver = Driver(engine=MARKED)
    driver.give(event(0, "uh one-stop " + numbered(10), options=SessionOptions(punctuation=False)))
    driver.give(event(1, session_end=True))

    (segment,) = driver.segments
    assert {word.punctuation for word in segment.words} == {"none"}
    assert segment.words[0].disfluency == "B-IM"


def test_of_several_pieces_of_a_word_the_last_carries_the_mark_and_all_the_tag_and_the_first_the_capital() -> None:
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
