"""The loss on numbers computed by hand."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import log
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional
from typer.testing import CliRunner

from caesura.models.__main__ import app
from caesura.models.data.aligned_words import AlignedDocument
from caesura.models.data.packing import PackedText, pack
from caesura.models.evaluation.false_stops import FlushPoint
from caesura.models.evaluation.flush_scores import reader_scores
from caesura.models.networks.checkpoints import learnt_from, load_network, write_checkpoint
from caesura.models.networks.pieces import LEADING
from caesura.models.training.balancing import balanced, mean_f1
from caesura.models.training.causal_reader import FOLLOWING, CausalReader
from caesura.models.training.objective import Objective, head_loss
from caesura.models.training.unseeing_labels import fitted, read_packed, written
from caesura.schemas.labels import Casing, Disfluency, Punctuation
from caesura.worker.adapters.memory.engine import ScriptedEngine
from tests.harness.models.networks import VOCABULARY, tiny_config, tiny_network, tokenizer

HALF, QUARTER, EIGHTH = log(0.5), log(0.25), log(0.125)
P = (0.5, 0.25, 0.125, 0.125)
"""The network's probabilities in every test; its scores are their logarithms."""


def scores(words: int) -> Tensor:
    return torch.tensor([[P] * words]).log()


def loss(labels: list[int], taught: list[list[float]] | None = None, **settings: float) -> float:
    told = None if taught is None else torch.tensor([taught])
    return float(head_loss(scores(len(labels)), torch.tensor([labels]), told, Objective(**settings)))


def test_a_known_label_costs_its_cross_entropy_and_an_unknown_one_nothing() -> None:
    assert loss([0, -100, 1, -100]) == pytest.approx(-(HALF + QUARTER) / 2)
    assert loss([-100, -100]) == 0


def test_a_word_that_weighs_more_counts_as_so_many() -> None:
    labels, weights = torch.tensor([[0, 1, -100]]), torch.tensor([[3.0, 1.0, 9.0]])
    weighed = float(head_loss(scores(3), labels, None, Objective(), weights))
    assert weighed == pytest.approx(-(3 * HALF + QUARTER) / 2)


def test_without_a_teacher_it_is_the_mean_cross_entropy_of_the_known_labels() -> None:
    torch.manual_seed(1)
    some, labels = torch.randn(3, 7, 5), torch.randint(-1, 5, (3, 7))
    labels[labels < 0] = -100
    wanted = functional.cross_entropy(some.flatten(0, 1), labels.flatten())
    assert head_loss(some, labels, None, Objective()) == pytest.approx(float(wanted))


def test_distillation_is_the_asked_share_of_both_losses() -> None:
    teacher = [0.25, 0.75, 0.0, 0.0]
    divergence = 0.25 * (QUARTER - HALF) + 0.75 * (log(0.75) - QUARTER)
    assert loss([0], [teacher], taught_share=0.5) == pytest.approx(0.5 * -HALF + 0.5 * divergence)
    assert loss([0], [teacher], taught_share=1.0) == pytest.approx(divergence)
    assert loss([0], [teacher], taught_share=0.0) == pytest.approx(-HALF)


def test_agreement_with_the_teacher_has_zero_divergence() -> None:
    assert loss([3], [list(P)], taught_share=1.0) == pytest.approx(0.0, abs=1e-6)


def test_a_word_that_the_teacher_did_not_speak_of_costs_its_cross_entropy_alone() -> None:
    teacher = [0.25, 0.75, 0.0, 0.0]
    divergence = 0.25 * (QUARTER - HALF) + 0.75 * (log(0.75) - QUARTER)
    told, untold = 0.5 * -HALF + 0.5 * divergence, -EIGHTH
    assert loss([0, 3], [teacher, [0.0] * 4], taught_share=0.5) == pytest.approx((told + untold) / 2)


def test_a_pseudo_label_is_the_teachers_likeliest_class_by_its_weight() -> None:
    teacher = [0.1, 0.2, 0.6, 0.1]
    assert loss([0, -100], [[0.0] * 4, teacher], pseudo_weight=0.25) == pytest.approx((-HALF - 0.25 * EIGHTH) / 2)


def test_without_pseudo_label_weight_unknown_labels_stay_masked() -> None:
    teacher = [0.1, 0.2, 0.6, 0.1]
    settings = {"taught_share": 0.5, "pseudo_weight": 0.0}
    assert loss([0, -100], [[0.0] * 4, teacher], **settings) == pytest.approx(-HALF)


def test_human_and_pseudo_labels_are_smoothed_each_with_its_own_share() -> None:
    teacher = [0.0, 1.0, 0.0, 0.0]
    mean = (HALF + QUARTER + 2 * EIGHTH) / 4
    human = -(0.9 * HALF + 0.1 * mean)
    pseudo = -(0.6 * QUARTER + 0.4 * mean)
    settings = {"smoothing": 0.1, "pseudo_smoothing": 0.4, "pseudo_weight": 0.5}
    assert loss([0, -100], [[0.0] * 4, teacher], **settings) == pytest.approx((human + 0.5 * pseudo) / 2)


def test_a_masked_word_gets_no_gradient() -> None:
    some = scores(2).requires_grad_()
    head_loss(some, torch.tensor([[1, -100]]), None, Objective(smoothing=0.1)).backward()  # type: ignore[no-untyped-call]
    assert some.grad is not None
    assert some.grad[0, 0].abs().max() > 0
    assert some.grad[0, 1].abs().max() == 0


def test_rows_that_sum_to_a_little_less_than_one_count_as_probabilities() -> None:
    teacher = [0.25, 0.75, 0.0, 0.0]
    rounded = [0.998 * share for share in teacher]
    assert loss([0], [rounded], taught_share=0.5) == pytest.approx(loss([0], [teacher], taught_share=0.5), abs=1e-6)


@pytest.mark.parametrize("wrong", [{"taught_share": 1.5}, {"smoothing": -0.1}, {"pseudo_weight": -1.0}])
def test_invalid_shares_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="share"):
        Objective(**wrong)


_MARKS = 4


def _text(careful_by: float, words: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """Return a text whose scores tell the gold mark well, but for ``careful_by`` less for the comma."""
    rng = np.random.default_rng(7)
    gold = rng.choice(_MARKS, size=words, p=(0.8, 0.1, 0.08, 0.02)).astype(np.int8)
    said = rng.normal(0.0, 0.8, size=(words, _MARKS))
    said[np.arange(words), gold] += 2.0
    said[:, 1] -= careful_by
    return said, gold


def test_a_mark_that_is_given_too_seldom_is_given_more_often() -> None:
    texts = {"one": _text(careful_by=0.9)}
    constants = balanced(texts)
    assert constants[0] == 0.0, "no mark is what the others are measured against"
    assert constants[1] > 0.4
    assert mean_f1(texts, constants) > mean_f1(texts, np.zeros(_MARKS)) + 1.0


def test_every_text_counts_alike() -> None:
    long, short = _text(careful_by=0.9, words=8000), _text(careful_by=-1.5, words=400)
    alone, both = balanced({"long": long}), balanced({"long": long, "short": short})
    assert both[1] < alone[1]


def asked_of(tmp_path: Path) -> list[str]:
    """Write a checkpoint that gives hardly any mark and a held-out text; return the command for them."""
    config = tiny_config()
    pieces = [LEADING, *(f"p{number}" for number in range(1, config.vocabulary_size))]
    (tmp_path / "vocab.txt").write_text("\n".join(pieces) + "\n")
    network = tiny_network(config, seed=3)
    with torch.no_grad():
        network.punctuation.bias[0] += 0.5  # so that it gives hardly any mark
    write_checkpoint(tmp_path / "before.pt", network, {"corpora": ["ami"]})
    words = 300
    rng = np.random.default_rng(5)
    PackedText(
        rng.integers(1, config.vocabulary_size, words).astype(np.uint16),
        np.arange(words + 1),
        rng.choice(config.punctuation_classes, size=words).astype(np.int8),
        np.zeros(words, dtype=np.int8),
        np.zeros(words, dtype=np.bool_),
        np.zeros(words, dtype=np.int8),
    ).save(tmp_path / "held" / "ami.npz")
    asked = ["balance", "--vocabulary", tmp_path / "vocab.txt", "--of", tmp_path / "before.pt"]
    asked += ["--checkpoint", tmp_path / "after.pt", "--data", tmp_path / "held", "--corpus", "ami"]
    return [str(word) for word in asked]


def test_the_command_moves_the_bias_of_the_marks_and_nothing_else(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, asked_of(tmp_path), catch_exceptions=False)
    assert "mean F1" in result.output
    before, after = (load_network(tmp_path / name).state_dict() for name in ("before.pt", "after.pt"))
    changed = [name for name, weights in after.items() if not torch.equal(weights, before[name])]
    assert changed == ["punctuation.bias"]
    assert after["punctuation.bias"][0] == before["punctuation.bias"][0]
    assert learnt_from(tmp_path / "after.pt") == ("ami",)


def test_constants_that_are_given_are_added_as_they_are(tmp_path: Path) -> None:
    marks = tiny_config().punctuation_classes - 1
    given = [round(0.1 * mark, 1) for mark in range(1, marks + 1)]
    command = [*asked_of(tmp_path), "--constants", ",".join(map(str, given))]
    CliRunner().invoke(app, command, catch_exceptions=False)
    before, after = (load_network(tmp_path / name).punctuation.bias for name in ("before.pt", "after.pt"))
    np.testing.assert_allclose((after - before).detach().numpy(), [0.0, *given], atol=1e-6)


def test_constants_of_the_tags_are_added_to_theirs_and_to_no_other(tmp_path: Path) -> None:
    marks = tiny_config().punctuation_classes - 1
    command = [*asked_of(tmp_path), "--constants", ",".join("0" * marks)]
    CliRunner().invoke(app, [*command, "--reparandum", "1.0", "--interregnum", "-0.25"], catch_exceptions=False)
    before, after = (load_network(tmp_path / name) for name in ("before.pt", "after.pt"))
    moved = (after.disfluency.bias - before.disfluency.bias).detach().numpy()
    named = {tag.published: float(moved[tag]) for tag in Disfluency}
    assert named == pytest.approx({"O": 0.0, "B-RM": 1.0, "I-RM": 1.0, "B-IM": -0.25, "I-IM": -0.25}, abs=1e-6)
    assert torch.equal(before.punctuation.bias, after.punctuation.bias)


@pytest.mark.parametrize(("given", "why"), [("0.1", "marks, not 1"), ("a,b,c", "numbers between commas")])
def test_invalid_constants_are_refused(given: str, why: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, [*asked_of(tmp_path), "--constants", given])
    assert result.exit_code == 2
    assert why in f"{result.output}{result.exception}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_checkpoint(tmp_path / "before.pt", tiny_network(seed=1), {"corpora": ["ami", "crd3"]})
    write_checkpoint(tmp_path / "after.pt", tiny_network(seed=2), {"corpora": ["crd3", "ted"]})
    write_checkpoint(tmp_path / "other.pt", tiny_network(tiny_config(look_ahead=(1, 1))), {"corpora": []})
    return tmp_path


def average(folder: Path, *names: str, out: str = "mean.pt") -> str:
    of = [word for name in names for word in ("--of", str(folder / name))]
    result = CliRunner().invoke(app, ["average", *of, "--checkpoint", str(folder / out)])
    return result.output + str(result.exception or "")


def test_every_weight_is_halfway_and_all_corpora_are_told(folder: Path) -> None:
    assert "mean.pt" in average(folder, "before.pt", "after.pt")
    before, after, mean = (load_network(folder / name).state_dict() for name in ("before.pt", "after.pt", "mean.pt"))
    for name, weights in mean.items():
        assert torch.allclose(weights, (before[name] + after[name]) / 2), name
    assert any(not torch.equal(before[name], after[name]) for name in mean)
    assert learnt_from(folder / "mean.pt") == ("ami", "crd3", "ted")


def test_how_much_was_left_out_in_training_keeps_no_two_apart(folder: Path) -> None:
    write_checkpoint(folder / "dropped.pt", tiny_network(replace(tiny_config(), dropout=0.1), seed=3), {"corpora": []})
    assert "mean.pt" in average(folder, "before.pt", "dropped.pt")
    assert load_network(folder / "mean.pt").config.dropout == 0.0


@pytest.mark.parametrize(
    ("names", "out", "why"),
    [
        (("before.pt",), "mean.pt", "two checkpoints at least"),
        (("before.pt", "other.pt"), "mean.pt", "holds another network than"),
        (("before.pt", "after.pt"), "other.pt", "is there already"),
    ],
)
def test_checkpoints_without_a_common_mean_are_refused(
    folder: Path, names: tuple[str, ...], out: str, why: str
) -> None:
    assert why in average(folder, *names, out=out)


GROUPS = len(FOLLOWING) + 1
CHARACTERS = [".", "?", ",", " a", " b", "a", "b", "A", "Transcript:\n\n"]


class Characters:
    """A tokenizer of the few things that are written here."""

    def __len__(self) -> int:
        return len(CHARACTERS)

    def __call__(self, text: str) -> SimpleNamespace:
        return SimpleNamespace(input_ids=[CHARACTERS.index(text)])

    def convert_ids_to_tokens(self, numbers: Iterable[int]) -> list[str]:
        return [CHARACTERS[number] for number in numbers]

    def convert_tokens_to_string(self, tokens: Sequence[str]) -> str:
        return "".join(tokens)


def expecting_a_period_after_b(pieces: torch.Tensor) -> SimpleNamespace:
    """Return states of which each is the row that the vocabulary's scores come from."""
    after_b = torch.isin(pieces, torch.tensor([CHARACTERS.index(" b"), CHARACTERS.index("b")]))
    states = torch.zeros(*pieces.shape, len(CHARACTERS))
    states[..., CHARACTERS.index(" a")] = 9.0 * ~after_b
    states[..., CHARACTERS.index(".")] = 9.0 * after_b
    return SimpleNamespace(last_hidden_state=states)


def test_a_reader_says_what_may_follow_each_word_and_knows_marks() -> None:
    head = SimpleNamespace(weight=torch.eye(len(CHARACTERS)))
    reader = CausalReader(SimpleNamespace(model=expecting_a_period_after_b, lm_head=head), Characters())
    said = reader.said(["A", "b", "a"], ["", ".", ""])
    assert said.shape == (3, GROUPS)
    assert said.argmax(axis=1).tolist() == [GROUPS - 1, 0, GROUPS - 1]
    assert np.allclose(np.exp(said).sum(axis=1), 1, atol=1e-3)


class Sure:
    """A reader who expects a period after ``left`` alone, and keeps what it was given."""

    def __init__(self) -> None:
        self.given: list[tuple[list[str], list[str]]] = []

    def said(self, words: Sequence[str], marks: Sequence[str]) -> NDArray[np.float32]:
        self.given.append((list(words), list(marks)))
        said = np.full((len(words), GROUPS), -6.0, dtype=np.float32)
        for row, word in zip(said, words, strict=True):
            row[0 if word.lower() == "left" else GROUPS - 1] = -0.1
        return said


def told(words: str, marks: Sequence[int], casing: Sequence[int] = ()) -> PackedText:
    cut = words.split()
    document = AlignedDocument("c", "d", cut, list(marks), [0] * len(cut), list(casing or [1] * len(cut)))
    return pack([document], tokenizer())


def test_a_text_is_read_as_it_was_written_capitals_and_marks_and_all() -> None:
    text = told("the cafe is it left", [0, 0, 1, 2, 0], [1, Casing.CAPITAL_FIRST, 1, Casing.ALL_CAPITALS, 1])
    words, marks = written(text, VOCABULARY, 0, 5)
    assert (words, marks) == (["The", "Cafe", "is", "IT", "Left"], ["", "", ",", ".", ""])


def test_a_reader_s_words_become_the_classes_that_people_set_after_them() -> None:
    marks = np.array(([Punctuation.NONE] * 3 + [Punctuation.PERIOD]) * 30, dtype=np.int8)
    words = np.array(["go", "on", "and", "left"] * 30)
    said = Sure().said(words.tolist(), [""] * len(words))
    said[:5] = 0  # nothing was said there
    unknown = marks.copy()
    unknown[7] = -1
    rows = fitted(said, unknown, 4)
    assert not rows[:5].any()
    assert rows[5:].argmax(axis=1).tolist() == marks[5:].tolist()
    assert np.allclose(rows[5:].astype(float).sum(axis=1), 1, atol=0.01)


def test_where_too_little_was_read_nothing_is_said() -> None:
    text = told(" ".join(["go"] * 25), [0] * 25)
    said = read_packed(Sure(), text, VOCABULARY, words=18)
    assert [bool(row.any()) for row in said] == [False] * 10 + [True] * 8


def with_a_reader(folder: Path, command: str, *options: object) -> list[str]:
    """Write a text, a vocabulary and empty weights; return the command that has a reader of those weights."""
    told("we saw and left " * 20, ([0] * 3 + [2]) * 20).save(folder / "data/crd3.npz")
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    (folder / "weights.gguf").write_bytes(b"")
    asked = [command, "--vocabulary", folder / "vocab.txt", "--reader", folder / "weights.gguf", *options]
    return [str(one) for one in asked]


def label_unseeing(folder: Path) -> list[str]:
    return with_a_reader(
        folder, "label-unseeing", "--data", folder / "data", "--taught", folder / "taught", "--corpus", "crd3"
    )


def test_labels_are_written_of_the_words_read_and_old_ones_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("caesura.models.training.causal_reader.opened_reader", lambda *_, **__: Sure())
    asked = label_unseeing(tmp_path)
    assert CliRunner().invoke(app, [*asked, "--max-words", "60"]).exit_code == 0
    rows = np.load(tmp_path / "taught/crd3.npy")
    assert [bool(row.any()) for row in rows] == [False] * 10 + [True] * 50 + [False] * 20
    assert not rows[:, 4:].any()  # of slips and capitals it says nothing
    CliRunner().invoke(app, [*asked, "--max-words", "20"])
    assert np.array_equal(np.load(tmp_path / "taught/crd3.npy"), rows)


def test_a_missing_package_for_weights_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    refused = CliRunner().invoke(app, label_unseeing(tmp_path))
    assert refused.exit_code == 2
    assert "pip install" in refused.output


def test_a_flush_s_last_word_is_read_after_the_marks_that_the_network_set() -> None:
    def stops(model: str, words: Sequence[str], position: int, look_ahead_words: int) -> tuple[int, int]:  # noqa: ARG001
        return int(Punctuation.PERIOD if words[position] == "left" else Punctuation.NONE), 0

    reader = Sure()
    points = [FlushPoint(words=("go", "left", "now", "left"), mark=Punctuation.PERIOD)]
    points += [FlushPoint(words=("go", "on"), mark=Punctuation.NONE)]
    said = reader_scores(reader, points, ScriptedEngine(script=stops))
    assert reader.given[0] == (["Go", "left", "Now", "left"], ["", ".", "", ""])
    assert said.argmax(axis=1).tolist() == [Punctuation.PERIOD, Punctuation.NONE]


def test_a_reader_is_asked_of_english_alone(tmp_path: Path) -> None:
    options = ("--corpora", tmp_path, "--language", "zh", "--checkpoint", tmp_path / "weights.gguf")
    refused = CliRunner().invoke(app, with_a_reader(tmp_path, "stop-line", *options))
    assert refused.exit_code == 2
    assert "reads English" in refused.output
