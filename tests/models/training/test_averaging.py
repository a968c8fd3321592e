"""The mean of two networks: its weights, what it says it learnt from, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from typer.testing import CliRunner

from caesura.models.__main__ import app
from caesura.models.networks.checkpoints import learnt_from, load_network, write_checkpoint
from tests.harness.models.networks import tiny_config, tiny_network

pytestmark = pytest.mark.torch


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
def test_what_has_no_mean_is_refused(folder: Path, names: tuple[str, ...], out: str, why: str) -> None:
    assert why in average(folder, *names, out=out)
