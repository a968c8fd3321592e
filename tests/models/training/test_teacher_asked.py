"""A teacher that is asked while its student trains, layers that are compiled, and samples that are made ahead."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

import numpy as np
import torch
from torch import Tensor
from typer.testing import CliRunner

from caesura.models.__main__ import app
from caesura.models.data.ahead import made_ahead
from caesura.models.data.packing import PackedText, pack
from caesura.models.data.resident_text import IGNORED, Batch, ResidentText
from caesura.models.data.soft_labels import forget_labels
from caesura.models.networks.arithmetic import compile_layers
from caesura.models.networks.checkpoints import load_network, write_checkpoint
from caesura.models.networks.ct_transformer import CTTransformer
from caesura.models.networks.registry import Network
from caesura.models.training.loop import TeacherTargets, TrainingPlan, losses, train
from caesura.models.training.objective import Objective
from caesura.models.training.soft_labelling import teacher_logits
from caesura.schemas.labels import Punctuation
from tests.harness.models.networks import LEADING, VOCABULARY, document, tiny_config, tiny_network, tokenizer

pytestmark = pytest.mark.torch


def packed(sentences: int = 40) -> PackedText:
    made = [document(sentences, seed=seed) for seed in range(2)]
    made[0].words[3] = "cafe"  # several pieces
    return pack(made, tokenizer())


def test_a_teacher_speaks_at_each_word_s_last_piece_of_the_sample_that_it_is_shown() -> None:
    text = packed()
    batch = ResidentText(text, LEADING).batch([(0, 9), (5, 30)])
    teacher = tiny_network()
    said = teacher_logits(teacher, batch)
    with torch.no_grad():
        scores = teacher(batch.pieces, batch.word_index)
    last = batch.punctuation != IGNORED  # every word's label is known here
    wanted = torch.cat([head.softmax(-1) for head in scores], dim=-1)
    assert torch.allclose(said[last], wanted[last], atol=0.02)
    assert not said[~last].any()
    alone = teacher_logits(teacher, ResidentText(text, LEADING).batch([(0, 9)]))
    assert torch.allclose(alone[0, :9], said[0, :9], atol=0.02)


def test_a_student_learns_what_its_teacher_says_while_it_trains(tmp_path: Path) -> None:
    text = packed()
    plan = TrainingPlan(max_words=12_000, leading=LEADING, threads=1, learning_rate=3e-3, max_pieces=600)
    teacher = tiny_network()
    train(teacher, text, plan, tmp_path / "teacher.pt")
    torch.manual_seed(8)
    student = CTTransformer(replace(tiny_config(), casing_classes=4))  # of capitals the teacher says nothing
    train(student, forget_labels(text), plan, tmp_path / "student.pt", told=TeacherTargets(teacher=teacher))
    batch = ResidentText(text, LEADING).batch([(0, 60)])
    known = batch.punctuation != IGNORED
    with torch.no_grad():
        marks, theirs = (one.eval()(batch.pieces, batch.word_index)[0][known].argmax(-1) for one in (student, teacher))
    assert float((marks == theirs).float().mean()) > 0.9
    assert len(theirs.unique()) > 1  # it says more than one thing


def test_what_a_reader_without_sight_said_is_learnt_in_unseeing_steps_alone(tmp_path: Path) -> None:
    text = packed()
    contrary = np.zeros((text.words, 4 + 5), dtype=np.float16)
    contrary[:, Punctuation.COMMA] = 1
    seeing, unseeing = tiny_network(), tiny_network()
    plan = TrainingPlan(max_words=6_000, leading=LEADING, threads=1, learning_rate=3e-3, max_pieces=600)
    plan = replace(plan, taught_unseeing=True, objective=Objective(taught_share=1.0))
    train(seeing, text, plan, tmp_path / "seeing.pt", told=TeacherTargets(rows=contrary))
    train(unseeing, text, replace(plan, unseeing=1.0), tmp_path / "unseeing.pt", told=TeacherTargets(rows=contrary))
    assert _commas(unseeing, text) == 1.0
    assert _commas(seeing, text) < 0.5


def test_a_teacher_is_asked_in_the_steps_that_have_no_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def noted(teacher: Network, batch: Batch) -> Tensor:
        asked.append(batch.words)
        return teacher_logits(teacher, batch)

    monkeypatch.setattr("caesura.models.training.loop.teacher_logits", noted)
    text = packed()
    rows = np.zeros((text.words, 4 + 5), dtype=np.float16)
    plan = TrainingPlan(max_words=500, leading=LEADING, threads=1, max_pieces=300, taught_unseeing=True)
    told = TeacherTargets(rows=rows, teacher=tiny_network())
    train(tiny_network(), text, replace(plan, unseeing=1.0), tmp_path / "unseeing.pt", told=told)
    assert not asked
    train(tiny_network(), text, plan, tmp_path / "seeing.pt", told=told)
    assert asked


def _commas(network: CTTransformer, text: PackedText) -> float:
    """Return the share of words after which a network that sees no later one has a comma."""
    batch = ResidentText(text, LEADING).batch([(0, 60)])
    known = batch.punctuation != IGNORED
    unseeing = (0,) * len(network.config.look_ahead)
    with torch.no_grad():
        marks = network.eval()(batch.pieces, batch.word_index, unseeing)[0][known].argmax(-1)
    return float((marks == int(Punctuation.COMMA)).float().mean())


def test_what_a_teacher_without_a_third_head_says_is_no_target_of_capitals() -> None:
    text = packed()
    batch = ResidentText(text, LEADING).batch([(0, 30)])
    told = replace(batch, taught=teacher_logits(tiny_network(), batch))
    student = CTTransformer(replace(tiny_config(), casing_classes=4))
    assert [float(loss.detach()) > 0 for loss in losses(student, told, Objective(taught_share=0.5))] == [
        True,
        True,
        False,
    ]


def test_compiled_layers_say_what_the_others_say_and_keep_their_weights_names() -> None:
    plain, compiled = tiny_network(), tiny_network()
    asked: list[dict[str, object]] = []
    for layer in compiled.layers:
        layer.compile = lambda **how: asked.append(how)  # type: ignore[method-assign]
    compile_layers(compiled)
    assert asked == [{"dynamic": True}] * len(compiled.layers)
    assert list(compiled.state_dict()) == list(plain.state_dict())


def test_the_commands_ask_a_teacher_and_read_a_corpus_twice_that_is_named_twice(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    text = packed()
    text.save(tmp_path / "data" / "talks.npz")
    write_checkpoint(tmp_path / "teacher.pt", tiny_network(), {"corpora": ["talks"]})
    student, teacher = tmp_path / "student.pt", tmp_path / "teacher.pt"
    common = (
        f"train --vocabulary {tmp_path / 'vocab.txt'} --data {tmp_path / 'data'} --threads 1 --checkpoint {student}"
    )
    course = f"--start {teacher} --start-shape --look-ahead 0,1,2 --max-words 50 --teacher {teacher} --threads 1"
    result = CliRunner().invoke(app, [*common.split(), *course.split(), "--corpus", "talks", "--corpus", "talks"])
    assert result.exit_code == 0, result.output
    assert f"{2 * text.words} words" in result.output
    assert torch.load(student, weights_only=True)["corpora"] == ["talks"]
    assert load_network(student).config == load_network(teacher).config


def test_what_is_made_ahead_comes_whole_and_in_order_and_no_more_of_it_than_was_allowed() -> None:
    made: list[int] = []
    waits = threading.Event()

    def items() -> Iterator[int]:
        for k in range(9):
            made.append(k)
            if k == 4:
                waits.set()
            yield k

    ahead = made_ahead(items(), 3)
    assert next(ahead) == 0
    assert waits.wait(10)  # one is read, three wait, and one is held until there is room
    assert len(made) <= 5
    assert list(ahead) == list(range(1, 9))


def test_what_fails_while_it_is_made_ahead_fails_where_it_is_read() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("no third head")

    ahead = made_ahead(items(), 3)
    assert next(ahead) == 1
    with pytest.raises(ValueError, match="no third head"):
        next(ahead)
