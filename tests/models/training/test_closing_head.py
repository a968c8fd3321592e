"""The closing head is fitted to flushes of packed text, and nothing else of the network changes."""

from __future__ import annotations

import random
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from caesura.models.__main__ import app
from caesura.models.data.packing import PackedText
from caesura.models.decoding.last_words import of_last_words
from caesura.models.networks.checkpoints import learnt_from, load_network, write_checkpoint
from caesura.models.networks.ct_transformer import CTTransformer
from caesura.models.networks.full_transformer import FullTransformer
from caesura.models.networks.mpnet import MPNet
from caesura.models.networks.pretrained import shape_of, start_from_checkpoint
from caesura.models.networks.task_dependency import TaskDependency, TaskDependencyConfig
from caesura.models.training.closing_head import closing_flushes, fit_closing, with_closing
from tests.harness.models.networks import VOCABULARY, exported, tiny_config, tiny_network

NONE = np.zeros(4)


def text(sentences: int = 200, words: int = 8) -> PackedText:
    """Return sentences of one piece a word; each ends with a period after the piece 7, which stands nowhere else."""
    rng = np.random.default_rng(5)
    count = sentences * words
    pieces = rng.integers(8, 20, count).astype(np.uint16)
    last = np.arange(count) % words == words - 1
    pieces[last] = 7
    return PackedText(
        pieces=pieces,
        first_piece=np.arange(count + 1),
        punctuation=np.where(last, 2, 0).astype(np.int8),
        disfluency=np.zeros(count, dtype=np.int8),
        starts_sentence=np.arange(count) % words == 0,
        casing=np.zeros(count, dtype=np.int8),
    )


def asked(tmp_path: Path, of: str, packed: PackedText | None = None) -> list[str]:
    """Write a vocabulary and text; return the command that fits ``of`` to it."""
    (packed or text(40)).save(tmp_path / "data" / "ami.npz")
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    return [
        *("fit-closing", "--vocabulary", str(tmp_path / "vocab.txt"), "--of", str(tmp_path / of), "--corpus", "ami"),
        *("--data", str(tmp_path / "data"), "--checkpoint", str(tmp_path / "made.pt")),
    ]


def test_a_sentence_gives_a_flush_inside_and_one_at_its_end() -> None:
    packed = text()
    flushes = closing_flushes(packed, random.Random(1), sentences=50)
    assert len(flushes) == 100
    assert all(packed.starts_sentence[first] and stop - first <= 150 for first, stop in flushes)
    marks = [int(packed.punctuation[stop - 1]) for _, stop in flushes]
    assert marks == [0, 2] * 50
    assert {first // 8 == (stop - 1) // 8 for first, stop in flushes} == {True, False}, "with words before, and without"
    assert len({stop % 8 for _, stop in flushes[::2]}) == 7, "any word but the last"
    assert flushes == closing_flushes(packed, random.Random(1), sentences=50)


def test_a_sentence_without_end_or_too_long_gives_no_example() -> None:
    packed = text(sentences=3, words=200)
    packed.punctuation[packed.punctuation == 2] = -1
    assert closing_flushes(packed, random.Random(1), sentences=50) == []
    assert closing_flushes(text(sentences=3, words=200), random.Random(1), sentences=50) == []


def test_the_fit_learns_ends_and_leaves_the_rest_of_the_network_as_it_was() -> None:
    packed, network = text(), tiny_network(tiny_config(look_ahead=(0, 1, 2)), seed=2)
    made = with_closing(network)
    flushes = closing_flushes(packed, random.Random(1), sentences=150)
    marks = packed.punctuation[[stop - 1 for _, stop in flushes]]
    told: list[int] = []
    rows = of_last_words(made.encode, packed, flushes, 1, progress=told.append)
    assert sum(told) == len(flushes)
    held = fit_closing(with_closing(network), rows, marks, ridge=10.0, constants=NONE)
    assert fit_closing(with_closing(network), rows, marks, ridge=1e-6, constants=NONE) < 0.1 < held, (
        "a ridge holds it to where it began"
    )
    fit_closing(made, rows, marks, ridge=1e-6, constants=NONE)
    assert made.closing is not None
    said = made.closing(rows).argmax(dim=-1).numpy()
    assert (said == marks).all()
    for name, weights in network.state_dict().items():
        assert torch.equal(made.state_dict()[name], weights), name
    assert all(one.requires_grad for one in made.parameters())


def test_constants_come_after_the_fit_and_need_the_head() -> None:
    packed, network = text(), tiny_network(seed=2)
    flushes = closing_flushes(packed, random.Random(1), sentences=20)
    marks = packed.punctuation[[stop - 1 for _, stop in flushes]]
    heads = []
    for constants in ([0.0] * 4, [0, 0, -1.5, 0.5]):
        made = with_closing(network)
        fit_closing(
            made, of_last_words(made.encode, packed, flushes, 1), marks, ridge=1e-6, constants=np.array(constants)
        )
        assert made.closing is not None
        heads.append(made.closing.bias.detach().numpy())
    np.testing.assert_allclose(heads[1] - heads[0], [0, 0, -1.5, 0.5], atol=1e-6)
    with pytest.raises(ValueError, match="no closing head"):
        fit_closing(network, torch.zeros(1, network.config.width), marks[:1], ridge=0, constants=NONE)


def test_a_training_begins_at_a_network_with_or_without_the_head(tmp_path: Path) -> None:
    bare = tiny_network(seed=4)
    headed = with_closing(bare)
    write_checkpoint(tmp_path / "bare.pt", bare, {})
    write_checkpoint(tmp_path / "headed.pt", headed, {})
    start_from_checkpoint(begun := CTTransformer(headed.config), tmp_path / "bare.pt")
    assert begun.closing is not None
    assert torch.equal(begun.closing.weight, bare.punctuation.weight)
    start_from_checkpoint(again := CTTransformer(bare.config), tmp_path / "headed.pt")
    assert torch.equal(again.punctuation.weight, bare.punctuation.weight)
    assert [shape_of(tmp_path / name)["closing"] for name in ("bare.pt", "headed.pt")] == [False, True], (
        "kept by --start-shape"
    )


@pytest.mark.parametrize("kind", [FullTransformer, MPNet])
def test_a_network_stays_of_its_kind(kind: type[CTTransformer]) -> None:
    network = kind(tiny_config()).eval()
    made = with_closing(network)
    assert type(made) is kind
    assert made.config == replace(network.config, closing=True)


def test_networks_that_cannot_have_the_head_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="settled at once"):
        with_closing(tiny_network(tiny_config(look_ahead=(0, 0))))
    write_checkpoint(tmp_path / "none.pt", tiny_network(tiny_config(look_ahead=(0, 0))), {})
    assert "settled at once" in str(CliRunner().invoke(app, asked(tmp_path, "none.pt")).exception)
    joint = TaskDependency(
        TaskDependencyConfig(**{field.name: getattr(tiny_config(), field.name) for field in fields(tiny_config())})
    )
    with pytest.raises(ValueError, match="joint network"):
        with_closing(joint)


@pytest.mark.parametrize("folder", [True, False])
def test_the_command_fits_to_a_checkpoint_or_a_model_folder_and_tells_of_what(tmp_path: Path, *, folder: bool) -> None:
    of = "models/en" if folder else "begun.pt"
    if folder:
        exported(tiny_network(), tmp_path / of, int8=True)
    else:
        write_checkpoint(tmp_path / of, tiny_network(), {"corpora": ["rev16"]})
    command = [*asked(tmp_path, of), "--sentences", "10"]
    told = CliRunner().invoke(app, [*command, "--constants", "0,-1,0"])
    assert told.exit_code == 0, told.output
    assert "20 flushes of 1 corpora" in told.output
    assert load_network(tmp_path / "made.pt").config.closing
    assert learnt_from(tmp_path / "made.pt")[-1] == "ami"
    few = [*command, "--checkpoint", str(tmp_path / "other.pt"), "--constants", "0,1"]
    assert "there are 3 marks, not 2" in CliRunner().invoke(app, few).output
    assert "is there already" in str(CliRunner().invoke(app, command).exception)


def test_text_without_a_known_end_is_refused(tmp_path: Path) -> None:
    packed = text(40)
    packed.punctuation[:] = -1
    write_checkpoint(tmp_path / "begun.pt", tiny_network(), {})
    command = asked(tmp_path, "begun.pt", packed)
    assert "no sentence of ami ends with a mark" in str(CliRunner().invoke(app, command).exception)


def test_a_folder_that_is_no_models_is_refused(tmp_path: Path) -> None:
    (tmp_path / "models" / "other").mkdir(parents=True)
    exported(tiny_network(), tmp_path / "models" / "en", int8=True)
    assert "is no model's folder" in CliRunner().invoke(app, asked(tmp_path, "models/other")).output
