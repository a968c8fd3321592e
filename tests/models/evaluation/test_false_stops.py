from __future__ import annotations

import random

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.models.evaluation.false_stops import FlushPoint, count_stops, flush_points, stops_on, stops_table
from caesura.models.evaluation.shares import Share
from caesura.schemas.labels import Punctuation
from caesura.worker.adapters.onnx.engine import OnnxEngine
from tests.harness.places import SHIPPED

NONE, COMMA, PERIOD, QUESTION = Punctuation.NONE, Punctuation.COMMA, Punctuation.PERIOD, Punctuation.QUESTION
MARKS = {",": COMMA, ".": PERIOD, "?": QUESTION, "*": UNKNOWN}


def document(text: str) -> AlignedDocument:
    """Return words with the mark that each ends with; ``*`` is one that nobody knows."""
    read = AlignedDocument("made up", "one")
    for word in text.split():
        bare = word.rstrip("".join(MARKS))
        read.add(bare, MARKS.get(word[len(bare) :], NONE), 0)
    return read


def test_each_sentence_is_flushed_once_inside_and_once_at_its_end() -> None:
    read = document(" ".join(f"we went home on day {number}, and it rained." for number in range(30)))
    points = flush_points([read], random.Random(1), sentences=20)
    inside = [point for point in points if point.mark not in (PERIOD, QUESTION)]
    assert len(points) == 40
    assert len(inside) == 20
    assert {point.words[-1] for point in inside} <= {"we", "went", "home", "on", "day", "and", "it"} | set(
        map(str, range(30))
    )
    assert all(point.words[-1] == "rained" for point in points if point.mark == PERIOD)


def test_a_session_begins_at_a_sentence_start_ten_words_before_its_sentence_at_least() -> None:
    read = document("a1 a2 a3 a4. b1 b2 b3 b4 b5 b6. c1 c2 c3. d1 d2 d3. e1 e2 e3 e4 e5?")
    ends = {point.words[-1]: point.words for point in flush_points([read], random.Random(1), sentences=9)}
    assert ends["e5"][0] == "b1"
    assert ends["b6"][0] == "a1"


def test_short_sentences_and_ends_or_places_whose_mark_nobody_knows_are_left_out() -> None:
    read = document("yes we can. we said it* so* then* often. they never came*")
    points = flush_points([read], random.Random(1), sentences=9)
    assert [point.mark for point in points if point.mark in (PERIOD, QUESTION)] == [PERIOD]
    assert {point.words[-1] for point in points} <= {"we", "said", "often"}


def test_stops_are_counted_by_what_the_text_has_at_the_point() -> None:
    points = [FlushPoint(words=("so",), mark=mark) for mark in (NONE, NONE, COMMA, PERIOD, QUESTION)]
    stops = count_stops("en, made up", points, [PERIOD, COMMA, QUESTION, QUESTION, NONE])
    assert (stops.plain, stops.comma) == (Share(hits=1, total=2), Share(hits=1, total=1))
    assert stops.inside == Share(hits=2, total=3)
    assert stops.end == Share(hits=1, total=2)


def test_a_flush_is_no_session_end_and_an_offset_moves_it() -> None:
    engine = OnnxEngine(SHIPPED, active=("en-ct-3x384",), threads=1)
    read = document(" ".join(f"she told us that the train to york was late on day {day}." for day in range(20)))
    low, high = (
        stops_on(engine, [read], text="made up", language="en", sentences=20, end_offset=offset) for offset in (0, 20)
    )
    assert low.inside.hits < low.inside.total
    assert high.inside.hits == high.inside.total


def test_the_table_sums_the_texts_of_a_language() -> None:
    point = [FlushPoint(words=("so",), mark=NONE)]
    rows = [
        count_stops(name, point * 2, marks) for name, marks in (("en, a", [0, 2]), ("en, b", [2, 2]), ("zh, c", [0, 0]))
    ]
    lines = stops_table(rows).splitlines()
    assert len(lines) == 7
    assert "| en, all | 75.0 " in lines[5]
    assert "3 of 4" in lines[5]
    assert "| zh, all | 0.0 " in lines[6]
