"""What the training loop does beyond plain labels: other networks, dropout, shorter look-ahead, a teacher's labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from caesura.models.__main__ import app
from caesura.models.data.packing import PackedText, pack
from caesura.models.data.resident_text import ResidentText
from caesura.models.data.soft_labels import Taught, forget_labels, with_pseudo_sentences
from caesura.models.networks.blstm import BLSTM, BLSTMConfig
from caesura.models.networks.checkpoints import load_any_network, load_network, write_checkpoint
from caesura.models.networks.ct_transformer import CTTransformer
from caesura.models.networks.full_transformer import UNLIMITED, FullTransformer
from caesura.models.networks.mpnet import MPNet
from caesura.models.networks.pretrained import shape_of
from caesura.models.networks.registry import Network
from caesura.models.training.loop import TeacherTargets, TrainingPlan, losses, train
from caesura.models.training.objective import Objective
from caesura.models.training.shorter_look_ahead import drawn_look_ahead
from caesura.schemas.labels import Punctuation
from tests.harness.models.networks import LEADING, VOCABULARY, document, tiny_config, tokenizer

PLAN = TrainingPlan(
    max_words=1500, leading=LEADING, learning_rate=3e-3, max_pieces=600, threads=1, checkpoint_s=float("inf")
)


def packed(documents: int = 2) -> PackedText:
    return pack([document(60, seed=seed) for seed in range(documents)], tokenizer())


def made(kind: str, *, dropout: float = 0.0) -> Network:
    torch.manual_seed(5)
    if kind == "blstm":
        return BLSTM(BLSTMConfig(vocabulary_size=len(VOCABULARY), width=32, hidden=32, layers=2, dropout=dropout))
    config = replace(tiny_config(), dropout=dropout)
    if kind == "mpnet":
        return MPNet(replace(config, look_ahead=(UNLIMITED,) * 3))
    return FullTransformer(config) if kind == "full" else CTTransformer(config)


def sure(text: PackedText) -> Taught:
    """Return a teacher that says of every word what its label says."""
    return np.concatenate([np.eye(4)[text.punctuation], np.eye(5)[text.disfluency]], axis=1).astype(np.float16)


def share_right(network: Network, text: PackedText) -> float:
    batch = ResidentText(text, LEADING).batch([(0, 60)])
    with torch.no_grad():
        marks, _ = network.eval()(batch.pieces, batch.word_index)
    known = batch.punctuation >= 0
    return float((marks.argmax(-1)[known] == batch.punctuation[known]).float().mean())


@pytest.mark.parametrize(
    ("kind", "expected"), [("ct", CTTransformer), ("full", FullTransformer), ("mpnet", MPNet), ("blstm", BLSTM)]
)
def test_each_network_is_trained_and_comes_back_from_its_checkpoint(
    kind: str, expected: type[Network], tmp_path: Path
) -> None:
    network, text = made(kind), packed()
    before = losses(network, ResidentText(text, LEADING).batch([(0, 60)]))
    train(network, text, PLAN, tmp_path / "checkpoint.pt")
    after = losses(network, ResidentText(text, LEADING).batch([(0, 60)]))
    assert all(late < early for early, late in zip(before, after, strict=True))
    again = load_any_network(tmp_path / "checkpoint.pt")
    assert type(again) is expected
    for name, weights in network.state_dict().items():
        assert torch.equal(again.state_dict()[name], weights), name


def test_a_checkpoint_from_before_there_were_kinds_holds_a_ct_transformer(tmp_path: Path) -> None:
    network = made("ct")
    train(network, packed(), PLAN, tmp_path / "checkpoint.pt")
    state = torch.load(tmp_path / "checkpoint.pt", weights_only=True)
    del state["kind"]
    torch.save(state, tmp_path / "older.pt")
    assert type(load_network(tmp_path / "older.pt")) is CTTransformer


def test_training_does_not_go_on_from_another_kind_of_network(tmp_path: Path) -> None:
    train(made("ct"), packed(), PLAN, tmp_path / "checkpoint.pt")
    with pytest.raises(ValueError, match="of the kind ct, not full"):
        train(made("full"), packed(), PLAN, tmp_path / "checkpoint.pt")


def test_training_resumes_only_under_the_same_mask(tmp_path: Path) -> None:
    checkpoint, short = tmp_path / "checkpoint.pt", replace(PLAN, max_words=1)
    train(made("ct"), packed(), short, checkpoint)
    with pytest.raises(ValueError, match=r"another network than was asked for: its look_back None"):
        train(CTTransformer(replace(tiny_config(), look_back=3)), packed(), short, checkpoint)
    state = torch.load(checkpoint, weights_only=True)
    del state["config"]["look_back"]
    torch.save(state, checkpoint)
    train(made("ct", dropout=0.1), packed(), short, checkpoint)


def test_a_start_says_how_far_back_its_layers_see(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "start.pt", CTTransformer(replace(tiny_config(), look_back=7)), {})
    assert shape_of(tmp_path / "start.pt")["look_back"] == 7


def test_a_blstm_is_not_taken_for_what_can_be_exported(tmp_path: Path) -> None:
    train(made("blstm"), packed(), PLAN, tmp_path / "checkpoint.pt")
    with pytest.raises(TypeError, match="blstm"):
        load_network(tmp_path / "checkpoint.pt")


def test_an_interrupted_training_with_dropout_ends_in_the_same_weights(tmp_path: Path) -> None:
    plan = replace(PLAN, shorter_look_ahead=0.5, checkpoint_s=0.0)
    text = packed()
    train(made("ct", dropout=0.2), text, plan, tmp_path / "whole.pt")
    looks: list[float] = []

    def enough(_: Network, share: float) -> bool:
        looks.append(share)
        return len(looks) == 2

    train(made("ct", dropout=0.2), text, plan, tmp_path / "resumed.pt", watch=enough)
    assert looks[-1] < 1
    torch.manual_seed(99)  # whatever else was drawn meanwhile
    train(made("ct", dropout=0.2), text, plan, tmp_path / "resumed.pt")
    whole, resumed = load_network(tmp_path / "whole.pt"), load_network(tmp_path / "resumed.pt")
    for name, weights in whole.state_dict().items():
        assert torch.allclose(weights, resumed.state_dict()[name], atol=1e-6), name


def test_the_drawn_look_ahead_lies_between_three_words_and_all() -> None:
    usual = (1, 1, 1, 2, 2, 2)
    drawn = [drawn_look_ahead(usual, seed, share=0.4) for seed in range(4000)]
    sums = Counter(sum(one) for one in drawn)
    assert set(sums) == {3, 4, 5, 6, 7, 8, 9}
    assert 0.55 < sums[9] / len(drawn) < 0.65
    assert all(0.04 < sums[words] / len(drawn) < 0.1 for words in range(3, 9))
    assert {one for one in drawn if sum(one) == 6} == {(1, 1, 1, 2, 1, 0)}
    assert drawn_look_ahead(usual, 1, share=0.0) == usual
    assert drawn_look_ahead((0, 0, 3), 1, share=1.0) == (0, 0, 3)


def test_in_a_share_of_the_steps_no_word_sees_a_later_one() -> None:
    usual = (1, 1, 1, 2, 2, 2)
    sums = Counter(sum(drawn_look_ahead(usual, seed, share=0.2, unseeing=0.3)) for seed in range(4000))
    assert set(sums) == {0, 3, 4, 5, 6, 7, 8, 9}
    assert 0.25 < sums[0] / 4000 < 0.35
    assert 0.45 < sums[9] / 4000 < 0.55
    assert drawn_look_ahead((0, 0, 3), 1, share=0.0, unseeing=1.0) == (0, 0, 0)


def test_where_no_word_sees_a_later_one_ends_are_found_by_weight(tmp_path: Path) -> None:
    text = packed(4)
    batch = ResidentText(text, LEADING).batch([(0, 200)])
    found = []
    for weight in (1.0, 30.0):
        network = made("ct")
        plan = replace(PLAN, max_words=4_000, unseeing=1.0, end_weight=weight)
        train(network, text, plan, tmp_path / f"{weight}.pt")
        with torch.no_grad():
            marks = network(batch.pieces, batch.word_index, (0, 0, 0))[0].argmax(-1)
        found.append(int(((marks == Punctuation.PERIOD) & (batch.punctuation >= 0)).sum()))
    assert found[0] < found[1]


def test_a_shorter_look_ahead_hides_the_words_beyond_it_in_that_pass_alone() -> None:
    network, text = made("ct"), packed()
    batch = ResidentText(text, LEADING).batch([(0, 20)])
    with torch.no_grad():
        usual = network(batch.pieces, batch.word_index)[0]
        shorter = network(batch.pieces, batch.word_index, (0, 0, 1))[0]
        after = network(batch.pieces, batch.word_index)[0]
    assert torch.equal(usual, after)
    assert not torch.equal(usual, shorter)


@pytest.mark.parametrize("kind", ["full", "blstm", "mpnet"])
def test_a_network_without_a_mask_refuses_a_drawn_look_ahead(kind: str, tmp_path: Path) -> None:
    for plan in (replace(PLAN, shorter_look_ahead=0.1), replace(PLAN, unseeing=0.1)):
        with pytest.raises(ValueError, match="CT-Transformer"):
            train(made(kind), packed(), plan, tmp_path / "checkpoint.pt")


def test_a_student_learns_unlabelled_text_from_a_teacher_alone(tmp_path: Path) -> None:
    text = packed(4)
    taught = sure(text)
    unlabelled = with_pseudo_sentences(forget_labels(text), taught, 4)
    plan = replace(PLAN, max_words=30_000, objective=Objective(pseudo_weight=0.5, pseudo_smoothing=0.1))
    pupil, left_alone = made("ct"), made("ct")
    train(pupil, unlabelled, plan, tmp_path / "pupil.pt", told=TeacherTargets(rows=taught))
    train(left_alone, unlabelled, replace(plan, max_words=1000), tmp_path / "alone.pt")
    assert share_right(pupil, text) > 0.9
    assert share_right(left_alone, text) < 0.5


def test_a_student_follows_its_teacher_where_the_teacher_contradicts_the_labels(tmp_path: Path) -> None:
    text = packed(4)
    taught = sure(text)
    other = replace(text, punctuation=np.zeros_like(text.punctuation))  # people who mark nothing
    plan = replace(PLAN, max_words=30_000, objective=Objective(taught_share=0.9))
    pupil = made("ct")
    train(pupil, other, plan, tmp_path / "pupil.pt", told=TeacherTargets(rows=taught))
    assert share_right(pupil, text) > 0.9


def test_the_third_head_learns_beside_the_others_where_case_is_known(tmp_path: Path) -> None:
    made = [document(60, seed=seed) for seed in range(2)]
    for one in made:
        one.casing = [2 if word in ("cat", "left") else 1 for word in one.words]
    text = pack(made, tokenizer())
    torch.manual_seed(5)
    network = CTTransformer(replace(tiny_config(), casing_classes=4))
    train(network, text, PLAN, tmp_path / "checkpoint.pt")
    batch = ResidentText(text, LEADING).batch([(0, 60)])
    with torch.no_grad():
        marks, _, casing = network.eval()(batch.pieces, batch.word_index)
    known = batch.casing >= 0
    assert float((casing.argmax(-1) == batch.casing)[known].float().mean()) > 0.9
    assert float((marks.argmax(-1) == batch.punctuation)[known].float().mean()) > 0.7
    assert load_network(tmp_path / "checkpoint.pt").config.casing_classes == 4


def test_a_teacher_s_rows_of_three_heads_are_three_targets() -> None:
    text = packed()
    rows = np.concatenate([sure(text), np.eye(4)[np.full(text.words, 3)]], axis=1).astype(np.float16)
    network = CTTransformer(replace(tiny_config(), casing_classes=4))
    batch = ResidentText(text, LEADING, rows).batch([(0, 60)])
    untold = losses(network, ResidentText(text, LEADING).batch([(0, 60)]), Objective(taught_share=0.5))
    told = losses(network, batch, Objective(taught_share=0.5))
    assert float(untold[2].detach()) == 0.0  # nobody knows the case, and no teacher says it
    assert float(told[2].detach()) > 0.5


def test_the_third_head_alone_leaves_every_other_weight_as_it_was(tmp_path: Path) -> None:
    made = document(60)
    made.casing = [2 if word == "cat" else 1 for word in made.words]
    pack([made], tokenizer()).save(tmp_path / "data" / "one.npz")
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    start = CTTransformer(tiny_config())
    write_checkpoint(tmp_path / "start.pt", start, {"corpora": ["before"]})
    asked = ("--start-shape", "--casing", "--casing-alone")
    plan = ("--look-ahead", "0,1,2", "--corpus", "one", "--max-words", "400", "--threads", "1")
    paths = {"vocabulary": "vocab.txt", "data": "data", "start": "start.pt", "checkpoint": "after.pt"}
    named = [part for name, path in paths.items() for part in (f"--{name}", str(tmp_path / path))]
    done = CliRunner().invoke(app, ["train", *named, *plan, *asked])
    assert done.exit_code == 0, done.output
    after = load_network(tmp_path / "after.pt").state_dict()
    assert all(torch.equal(after[name], weights) for name, weights in start.state_dict().items())
    assert float(after["casing.bias"].abs().sum()) > 0
    refused = CliRunner().invoke(app, ["train", *named, *plan, asked[0], asked[2]])
    assert refused.exit_code == 2


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--heads", "7"), "not a multiple of heads 7"),
        (("--look-ahead", "1,two"), "whole numbers"),
        (("--start-shape", "--look-ahead", "0,0,0"), "without look-ahead"),
    ],
)
def test_a_shape_that_cannot_be_is_refused_in_a_line(asked: tuple[str, ...], said: str, tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    write_checkpoint(tmp_path / "start.pt", CTTransformer(replace(tiny_config(), closing=True)), {"corpora": []})
    named = [f"--vocabulary={tmp_path / 'vocab.txt'}", f"--data={tmp_path}", f"--start={tmp_path / 'start.pt'}"]
    refused = CliRunner().invoke(app, ["train", *named, *asked])
    assert refused.exit_code == 2, refused.output
    assert said in " ".join(refused.output.replace("│", " ").split())
