"""A pre-trained encoder as a teacher, and what it says of packed text; then the whole recipe by its commands."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor
from typer.testing import CliRunner

from caesura.models.__main__ import app
from caesura.models.data.packing import PackedText, pack
from caesura.models.data.resident_text import IGNORED, Batch, ResidentText
from caesura.models.data.soft_labels import TaughtFile, forget_labels, load_taught
from caesura.models.networks.arithmetic import compile_layers
from caesura.models.networks.checkpoints import load_any_network, load_network, write_checkpoint
from caesura.models.networks.ct_transformer import CTConfig, CTTransformer
from caesura.models.networks.full_transformer import FullTransformer
from caesura.models.networks.mpnet import MPNet
from caesura.models.networks.pretrained import rows_of, shape_of, start_from_bert, start_from_checkpoint
from caesura.models.networks.registry import Network
from caesura.models.training.loop import TeacherTargets, TrainingPlan, losses, made_ahead, train
from caesura.models.training.objective import Objective
from caesura.models.training.soft_labelling import HEADS, HeadChoice, Teacher, label_softly, teacher_logits
from caesura.schemas.labels import Punctuation
from tests.harness.models.networks import LEADING, VOCABULARY, document, tiny_config, tiny_network, tokenizer
from tests.harness.models.paper_runs import INNER, LAYERS, POSITIONS, WIDTH, bert, mpnet

SHAPE = CTConfig(
    vocabulary_size=len(VOCABULARY),
    width=WIDTH,
    heads=1,
    inner_width=INNER,
    look_ahead=(0, 1, 2),
    positions="learned",
    max_positions=POSITIONS,
)


def checkpoint_of(network: CTTransformer, path: Path) -> Path:
    write_checkpoint(path, network, {})
    return path


def inner(network: CTTransformer, layer: int) -> Tensor:
    weights: Tensor = network.state_dict()[f"layers.{layer}.inner.weight"]
    return weights


def packed(sentences: int, *, seed: int = 3) -> PackedText:
    return pack([document(sentences, seed=seed)], tokenizer())


def labelled(text: PackedText, path: Path, *, heads: HeadChoice = "both", windows: int = 2) -> TaughtFile:
    file = TaughtFile(path, text.words, 9)
    teacher = Teacher(network=tiny_network(), leading=LEADING, heads=heads, windows=windows)
    label_softly(teacher, text, file)
    return file


def test_the_shape_of_a_pre_trained_encoder_is_read_off_its_file(tmp_path: Path) -> None:
    assert shape_of(bert(tmp_path / "bert.safetensors")) == {
        "width": WIDTH,
        "heads": 1,
        "inner_width": INNER,
        "positions": "learned",
        "max_positions": POSITIONS,
        "layers": LAYERS,
        "look_back": None,
        "closing": False,
    }


def test_an_mpnet_is_read_as_the_same_encoder_with_its_distances(tmp_path: Path) -> None:
    theirs, same = mpnet(tmp_path / "mpnet.safetensors"), bert(tmp_path / "bert.safetensors")
    assert shape_of(theirs) == shape_of(same)
    network, plain = MPNet(SHAPE), CTTransformer(SHAPE)
    start_from_bert(network, theirs, LEADING)
    start_from_bert(plain, same, LEADING)
    state = network.state_dict()
    assert torch.equal(state.pop("relative"), load_file(theirs)["encoder.relative_attention_bias.weight"])
    for name, weights in plain.state_dict().items():
        if not name.startswith(("punctuation", "disfluency")):
            assert torch.equal(state[name], weights), name


def test_an_mpnet_starts_a_ct_transformer_without_its_distances(tmp_path: Path) -> None:
    network, plain = CTTransformer(SHAPE), CTTransformer(SHAPE)
    start_from_bert(network, mpnet(tmp_path / "mpnet.safetensors"), LEADING)
    start_from_bert(plain, bert(tmp_path / "bert.safetensors"), LEADING)
    assert torch.equal(inner(network, 0), inner(plain, 0))


def test_an_encoder_does_not_start_a_network_that_it_lacks_a_part_of(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="relative"):
        start_from_bert(MPNet(SHAPE), bert(tmp_path / "bert.safetensors"), LEADING)


def test_a_checkpoint_has_the_shape_of_its_network(tmp_path: Path) -> None:
    plan = TrainingPlan(max_words=10, leading=LEADING, threads=1)
    train(FullTransformer(SHAPE), packed(5), plan, tmp_path / "teacher.pt")
    assert shape_of(tmp_path / "teacher.pt") == shape_of(bert(tmp_path / "bert.safetensors"))


def test_fresh_layers_keep_their_random_start_and_the_others_are_the_encoder_s(tmp_path: Path) -> None:
    weights = bert(tmp_path / "bert.safetensors")
    torch.manual_seed(1)
    whole, fresh = FullTransformer(SHAPE), FullTransformer(SHAPE)
    before = inner(fresh, 2).clone()
    start_from_bert(whole, weights, LEADING)
    start_from_bert(fresh, weights, LEADING, fresh_layers=1)
    assert torch.equal(inner(fresh, 2), before)
    assert not torch.equal(inner(whole, 2), before)
    for k in (0, 1):
        assert torch.equal(inner(fresh, k), inner(whole, k))


def test_a_full_context_teacher_is_put_under_the_mask_by_its_checkpoint(tmp_path: Path) -> None:
    teacher = FullTransformer(SHAPE)
    train(teacher, packed(5), TrainingPlan(max_words=10, leading=LEADING, threads=1), tmp_path / "teacher.pt")
    masked = CTTransformer(SHAPE)
    start_from_checkpoint(masked, tmp_path / "teacher.pt")
    assert masked.config.look_ahead == (0, 1, 2)
    assert torch.equal(inner(masked, 1), inner(teacher, 1))


def test_a_smaller_network_gets_a_teacher_s_lowest_layers_and_no_distances(tmp_path: Path) -> None:
    teacher = MPNet(SHAPE)
    train(teacher, packed(5), TrainingPlan(max_words=10, leading=LEADING, threads=1), tmp_path / "teacher.pt")
    student = CTTransformer(replace(SHAPE, look_ahead=(1, 1), casing_classes=4))
    start_from_checkpoint(student, tmp_path / "teacher.pt")
    for k in (0, 1):
        assert torch.equal(inner(student, k), inner(teacher, k))
    with pytest.raises(ValueError, match="casing"):
        start_from_checkpoint(MPNet(SHAPE), checkpoint_of(student, tmp_path / "student.pt"))


def test_pieces_that_another_vocabulary_numbers_otherwise_keep_their_rows(tmp_path: Path) -> None:
    theirs = ["<s>", "<pad>", *(f"piece{k}" for k in range(SHAPE.vocabulary_size - 2))]
    ours = ["[PAD]", "piece3", "[CLS]", *(f"piece{k}" for k in range(SHAPE.vocabulary_size - 2) if k != 3)]
    rows = rows_of(ours, theirs)
    assert [theirs[row] for row in rows[:4]] == ["<pad>", "piece3", "<s>", "piece0"]
    network = CTTransformer(SHAPE)
    weights = mpnet(tmp_path / "mpnet.safetensors")
    start_from_bert(network, weights, LEADING, rows=rows)
    stored = load_file(weights)["embeddings.word_embeddings.weight"]
    assert torch.equal(network.embedding.weight[1], stored[theirs.index("piece3")])
    with pytest.raises(KeyError):
        rows_of(["nowhere"], theirs)


def test_a_teacher_speaks_of_every_word_as_the_network_does(tmp_path: Path) -> None:
    text = packed(12)
    rows = labelled(text, tmp_path / "corpus.npy").rows
    assert text.words < 100  # one window
    batch = ResidentText(text, LEADING).batch([(0, text.words)])
    with torch.no_grad():
        scores = tiny_network()(batch.pieces, batch.word_index)
    places = torch.from_numpy(text.first_piece[1:])
    wanted = torch.cat([head[0, places].softmax(-1) for head in scores], dim=-1)
    assert np.abs(rows - wanted.numpy()).max() < 0.05  # bfloat16
    assert np.allclose(rows[:, :4].sum(axis=1), 1, atol=2e-3)
    assert np.allclose(rows[:, 4:].sum(axis=1), 1, atol=2e-3)


@pytest.mark.parametrize("sentences", [1, 60, 220])
def test_every_word_of_a_text_of_any_length_is_labelled(sentences: int, tmp_path: Path) -> None:
    text = packed(sentences)
    labelled(text, tmp_path / "corpus.npy")
    assert load_taught(tmp_path, [("corpus", text.words)], 9).any(axis=1).all()


def test_an_interrupted_labelling_goes_on_to_the_same_labels(tmp_path: Path) -> None:
    text = packed(220)
    whole = np.array(labelled(text, tmp_path / "whole.npy", windows=1).rows)

    def interrupt(_: int) -> None:
        told.append(_)
        if len(told) == 4:
            raise KeyboardInterrupt

    told: list[int] = []
    teacher = Teacher(network=tiny_network(), leading=LEADING, windows=1)
    with pytest.raises(KeyboardInterrupt):
        label_softly(teacher, text, TaughtFile(tmp_path / "resumed.npy", text.words, 9), progress=interrupt)
    assert not (tmp_path / "resumed.npy").exists()
    told = []
    label_softly(teacher, text, TaughtFile(tmp_path / "resumed.npy", text.words, 9), progress=told.append)
    assert 0 < told[0] < sum(told) == text.words
    assert np.array_equal(np.load(tmp_path / "resumed.npy"), whole)


@pytest.mark.parametrize(("heads", "silent"), [("punctuation", slice(4, 9)), ("disfluency", slice(4))])
def test_a_head_that_is_not_asked_says_nothing(heads: HeadChoice, silent: slice, tmp_path: Path) -> None:
    assert heads in HEADS
    rows = labelled(packed(5), tmp_path / "corpus.npy", heads=heads).rows
    assert not rows[:, silent].any()
    assert rows.any(axis=1).all()


def run(*arguments: str | Path) -> None:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output


def test_the_commands_lead_from_teacher_to_labels_to_student(tmp_path: Path) -> None:
    weights, vocabulary = bert(tmp_path / "bert.safetensors"), tmp_path / "vocab.txt"
    vocabulary.write_text("\n".join(VOCABULARY) + "\n")
    for seed, name in enumerate(("talks", "unlabelled")):
        packed(40, seed=seed).save(tmp_path / "data" / f"{name}.npz")
    common = ("--vocabulary", vocabulary, "--data", tmp_path / "data", "--threads", "1")
    both = ("--corpus", "talks", "--corpus", "unlabelled")
    small = ("--max-words", "200", "--max-pieces", "300")
    teacher, student, tuned = (tmp_path / f"{name}.pt" for name in ("teacher", "student", "tuned"))

    of_bert = ("--network", "full", "--start", weights, "--start-shape", "--fresh-layers", "1", "--dropout", "0.1")
    run("train", *common, *small, *of_bert, "--corpus", "talks", "--checkpoint", teacher)
    run("label", *common, *both, "--teacher", teacher, "--taught", tmp_path / "taught")
    as_teacher = ("--start", teacher, "--start-shape", "--look-ahead", "0,1,2", "--shorter-look-ahead", "0.3")
    soft = ("--taught", tmp_path / "taught", "--taught-share", "0.5")
    human = ("--pseudo", "unlabelled", "--pseudo-weight", "0.5", "--smoothing", "0.05", "--pseudo-smoothing", "0.2")
    run("train", *common, *small, *both, *as_teacher, *soft, *human, "--checkpoint", student)
    run("train", *common, *small, "--corpus", "talks", *as_teacher[2:5], "--start", student, "--checkpoint", tuned)

    both_taught = CliRunner().invoke(app, [*map(str, ("train", *common, *small, *both, *soft, "--teacher", teacher))])
    assert (both_taught.exit_code, "--teacher" in both_taught.output, "--taught" in both_taught.output) == (
        2,
        True,
        True,
    )

    assert isinstance(load_network(teacher), FullTransformer)
    assert type(load_any_network(tuned)) is CTTransformer
    assert load_network(tuned).config.look_ahead == (0, 1, 2)


def packed_pair(sentences: int = 40) -> PackedText:
    made = [document(sentences, seed=seed) for seed in range(2)]
    made[0].words[3] = "cafe"  # several pieces
    return pack(made, tokenizer())


def test_a_teacher_speaks_at_each_words_last_piece() -> None:
    text = packed_pair()
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
    text = packed_pair()
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


def test_labels_without_look_ahead_are_learnt_in_unseeing_steps_alone(tmp_path: Path) -> None:
    text = packed_pair()
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
    text = packed_pair()
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
    text = packed_pair()
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
    text = packed_pair()
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


def test_prefetching_keeps_order_and_its_limit() -> None:
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


def test_errors_of_prefetching_are_raised_to_the_reader() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("no third head")

    ahead = made_ahead(items(), 3)
    assert next(ahead) == 1
    with pytest.raises(ValueError, match="no third head"):
        next(ahead)
