"""What travels comes out as it went in: text to the label, weights to half a step of their rounding."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

from caesura.models.__main__ import app
from caesura.models.archives.text_archives import text_from, write_text
from caesura.models.data.packing import PackedText
from caesura.models.networks.checkpoints import learnt_from, load_network, read_checkpoint, write_checkpoint
from tests.harness.models.networks import tiny_config, tiny_network


def text(words: int, *, most_pieces: int = 5) -> PackedText:
    """Return a packed text with every label that there is, the unknown ones too."""
    rng = np.random.default_rng(words)
    sizes = rng.integers(1, most_pieces + 1, words)
    return PackedText(
        rng.integers(0, 2**16, sizes.sum()).astype(np.uint16),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        rng.integers(-1, 5, words).astype(np.int8),
        rng.integers(-1, 5, words).astype(np.int8),
        rng.random(words) < 0.1,
        rng.integers(-1, 4, words).astype(np.int8),
    )


def run(*words: object, status: int = 0) -> str:
    """Run a command; return what it said, an error too."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == status, done.output
    return f"{done.output}{done.exception or ''}"


@pytest.mark.parametrize("words", [0, 1, 3000])
def test_text_is_the_same_to_the_last_label(words: int, tmp_path: Path) -> None:
    text(words).save(tmp_path / "ami.npz")
    run("archive", "--of", tmp_path / "ami.npz", "--folder", tmp_path / "away")
    run("unarchive", "--of", tmp_path / "away" / "ami.npz.archive", "--folder", tmp_path / "there")
    assert (tmp_path / "there" / "ami.npz").read_bytes() == (tmp_path / "ami.npz").read_bytes()


def test_a_word_that_a_byte_cannot_count_is_refused(tmp_path: Path) -> None:
    one = text(1)
    long = PackedText(np.zeros(256, np.uint16), np.array([0, 256]), *(getattr(one, name) for name in one.__slots__[2:]))
    with pytest.raises(ValueError, match="a word of 256 pieces"):
        write_text(tmp_path / "x", long)
    most = PackedText(long.pieces[:255], np.array([0, 255]), *(getattr(one, name) for name in one.__slots__[2:]))
    write_text(tmp_path / "x", most)
    assert text_from(tmp_path / "x").first_piece.tolist() == [0, 255]


@pytest.mark.parametrize("bits", [8, 12])
def test_weights_come_back_within_half_a_step_and_the_network_with_its_shape(bits: int, tmp_path: Path) -> None:
    network = tiny_network(tiny_config(look_ahead=(1, 2)), seed=4)
    with torch.no_grad():
        network.embedding.weight[3] = 0.0  # a row without a scale
        network.punctuation.weight[0, 0] = -5.0
    write_checkpoint(tmp_path / "x.pt", network, {"corpora": ["ami"], "optimisers": [1]})
    run("archive", "--of", tmp_path / "x.pt", "--folder", tmp_path, "--bits", bits)
    run("unarchive", "--of", tmp_path / "x.pt.archive", "--folder", tmp_path / "there")
    back = load_network(tmp_path / "there" / "x.pt")
    assert back.config == network.config
    assert learnt_from(tmp_path / "there" / "x.pt") == ("ami",)
    assert "optimisers" not in read_checkpoint(tmp_path / "there" / "x.pt", tiny_network(network.config))
    for name, weight in network.state_dict().items():
        step = weight.abs().amax(-1, keepdim=True) / (2 ** (bits - 1) - 1) if weight.ndim > 1 else torch.zeros(1)
        assert ((back.state_dict()[name] - weight).abs() <= step * 0.5001).all(), name


def test_a_start_without_a_shape_travels_too_and_is_no_checkpoint(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    given = {"odd": torch.from_numpy(rng.normal(size=(3, 5)).astype(np.float32)), "bias": torch.arange(4.0)}
    save_file(given, tmp_path / "bert.safetensors")
    run("archive", "--of", tmp_path / "bert.safetensors", "--folder", tmp_path)
    run("unarchive", "--of", tmp_path / "bert.safetensors.archive", "--folder", tmp_path / "there")
    back = load_file(tmp_path / "there" / "bert.safetensors")
    assert torch.equal(back["bias"], given["bias"])
    assert torch.allclose(back["odd"], given["odd"], atol=1e-3)
    (tmp_path / "bert.safetensors.archive").rename(tmp_path / "bert.pt.archive")
    assert "unpack it as .safetensors" in run(
        "unarchive", "--of", tmp_path / "bert.pt.archive", "--folder", tmp_path, status=1
    )


def test_bad_archives_are_refused_by_name(tmp_path: Path) -> None:
    write_text(tmp_path / "a.npz.archive", text(500))
    whole = (tmp_path / "a.npz.archive").read_bytes()
    (tmp_path / "b.npz.archive").write_bytes(whole[: random.Random(1).randrange(len(whole))])
    (tmp_path / "c.pt.archive").write_bytes(whole)
    (tmp_path / "d.txt").write_text("no weights")
    for name, why in (("b.npz", "no archive, or not all of one"), ("c.pt", "no archive of weights")):
        said = run("unarchive", "--of", tmp_path / f"{name}.archive", "--folder", tmp_path, status=1)
        assert f"{tmp_path / name}.archive" in said
        assert why in said
    assert "is none of .npz, .pt, .safetensors" in run(
        "archive", "--of", tmp_path / "d.txt", "--folder", tmp_path, status=1
    )
    assert "10 is none of 8, 12" in run(
        "archive", "--of", tmp_path / "d.txt", "--folder", tmp_path, "--bits", 10, status=2
    )
