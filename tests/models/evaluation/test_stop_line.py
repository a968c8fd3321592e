"""False stops where as many true ends get a mark: moved by a constant, read between two places, told of a network."""

from __future__ import annotations

import random
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from caesura.models.commands import stop_lines
from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.models.evaluation.false_stops import FlushPoint, count_stops, flush_points, stops_on, stops_table
from caesura.models.evaluation.shares import Share
from caesura.models.evaluation.stop_line import stop_line
from caesura.schemas.labels import Punctuation
from caesura.worker.adapters.onnx.engine import OnnxEngine
from tests.harness.shipped_models import one_model

NONE, COMMA, PERIOD, QUESTION = Punctuation.NONE, Punctuation.COMMA, Punctuation.PERIOD, Punctuation.QUESTION


def scores(*of_period: float) -> np.ndarray:
    """Return log probabilities in which a period is so much likelier than no mark, and nothing else is likely."""
    said = np.full((len(of_period), 4), -50.0)
    said[:, NONE], said[:, PERIOD] = 0.0, of_period
    return said


def test_a_constant_moves_both_shares_and_the_line_is_read_between_its_places() -> None:
    marks = np.array([PERIOD, PERIOD, PERIOD, PERIOD, NONE, COMMA, NONE, NONE], dtype=np.int8)
    line = stop_line(scores(1.0, 1.0, -0.5, -1.0, 0.5, -0.75, -2.0, -3.5), marks)
    assert (line.as_it_is.false, line.as_it_is.ends) == (25.0, 50.0)
    assert (line.where(75.0).false, line.where(100.0).false) == (25.0, 50.0)
    assert line.where(75.0).constant == pytest.approx(0.55)
    assert line.where(90.0).constant == pytest.approx(1.0 + 0.6 * 0.05), "between two places, as on a straight line"


def test_a_better_network_has_fewer_false_stops_at_as_many_ends() -> None:
    marks = np.array([PERIOD, NONE] * 400, dtype=np.int8)
    drawn = np.random.default_rng(3).normal(size=800)
    told = np.where(marks == PERIOD, 1.0, -1.0)
    knows, guesses = (stop_line(scores(*(drawn + told * worth - 1)), marks) for worth in (1.5, 0.5))
    assert knows.where(88).false + 20 < guesses.where(88).false
    careful = stop_line(scores(*(drawn + told * 1.5 - 2)), marks)
    assert careful.as_it_is.ends < knows.as_it_is.ends
    assert careful.where(88).false == pytest.approx(knows.where(88).false, abs=1e-9)


def test_a_stop_line_needs_both_ends_and_inner_points() -> None:
    with pytest.raises(ValueError, match="points at ends of sentences and inside them"):
        stop_line(scores(1.0, 2.0), np.array([PERIOD, QUESTION], dtype=np.int8))
    line = stop_line(scores(-30.0, 1.0, 1.0), np.array([PERIOD, PERIOD, NONE], dtype=np.int8))
    with pytest.raises(ValueError, match=r"the line has 0\.0 to 50\.0 % of the true ends, not 88\.0"):
        line.where(88.0)


@pytest.mark.torch
def test_a_point_is_scored_as_it_stands_alone_in_the_order_given() -> None:
    torch = pytest.importorskip("torch")
    from caesura.models.evaluation.flush_scores import flush_scores  # noqa: PLC0415 - it wants torch
    from tests.harness.models import networks  # noqa: PLC0415

    rng = random.Random(2)
    points = [
        FlushPoint(words=tuple(rng.choice(networks.WORDS) for _ in range(rng.randint(1, 30))), mark=NONE)
        for _ in range(70)
    ]
    network, seen = networks.tiny_network().eval(), list[int]()
    said = flush_scores(network, points, networks.tokenizer(), networks.LEADING, progress=seen.append)
    assert sum(seen) == 70
    for point, row in zip(points, said, strict=True):
        pieces = [[networks.LEADING], *(networks.tokenizer().pieces(word) for word in point.words)]
        of_words = [number for number, word in enumerate(pieces) for _ in word]
        with torch.no_grad():
            alone = network(torch.tensor([list(chain.from_iterable(pieces))]), torch.tensor([of_words]))[0][0, -1]
        assert row == pytest.approx(alone.log_softmax(-1).numpy(), abs=0.15), "bfloat16 where the processor has it"


@pytest.mark.torch
def test_the_command_tells_each_checkpoint_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from caesura.models.__main__ import app  # noqa: PLC0415 - they want torch
    from caesura.models.networks.checkpoints import write_checkpoint  # noqa: PLC0415
    from tests.harness.models import networks  # noqa: PLC0415

    document = AlignedDocument("made up", "one")
    for number in range(400):
        document.add(networks.WORDS[number % 16], PERIOD if number % 8 == 7 else NONE, 0)
    monkeypatch.setattr(stop_lines, "held_out", lambda *_, **__: [document])
    (tmp_path / "vocab.txt").write_text("\n".join(networks.VOCABULARY) + "\n")
    asked = ["stop-line", "--vocabulary", str(tmp_path / "vocab.txt"), "--corpora", str(tmp_path), "--ends", "100"]
    for seed in (1, 2):
        write_checkpoint(tmp_path / f"{seed}.pt", networks.tiny_network(seed=seed), {"corpora": []})
        asked += ["--checkpoint", str(tmp_path / f"{seed}.pt")]
    told = CliRunner().invoke(app, asked, catch_exceptions=False).stdout.splitlines()[-2:]
    for seed, line in zip((1, 2), told, strict=True):
        assert line.startswith(f"{tmp_path / str(seed)}.pt: ")
        assert " % of the true ends; at 100.0 % " in line


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


def test_a_session_begins_ten_words_or_more_before_its_sentence() -> None:
    read = document("a1 a2 a3 a4. b1 b2 b3 b4 b5 b6. c1 c2 c3. d1 d2 d3. e1 e2 e3 e4 e5?")
    ends = {point.words[-1]: point.words for point in flush_points([read], random.Random(1), sentences=9)}
    assert ends["e5"][0] == "b1"
    assert ends["b6"][0] == "a1"


def test_short_sentences_and_unknown_marks_are_left_out() -> None:
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
    engine = OnnxEngine(one_model("en-ct-3x384"), active=("en-ct-3x384",), threads=1)
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
