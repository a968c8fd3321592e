"""A models folder is verified before it is used; what is wrong with it is said plainly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Protocol

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.dictionary import dictionary_sha256
from caesura.worker.core.language.normalisation import model_view
from caesura.worker.errors import FatalError
from caesura.worker.inference.model.model_folder import languages_of, read_models_folder
from caesura.worker.inference.model.wordpiece import ACCENTED, WordPiece
from tests.unit.inference.model_files import model


def test_a_folder_that_is_what_its_manifest_says_is_read(tmp_path: Path) -> None:
    model(tmp_path)
    (stored,) = read_models_folder(tmp_path)
    assert stored.manifest.name == "en@1"
    assert stored.manifest.look_ahead_words == 9
    assert stored.vocabulary() == ["[UNK]", "[CLS]", "a", "b"]


def test_a_model_of_another_dictionary_is_refused(tmp_path: Path) -> None:
    same, other = tmp_path / "same", tmp_path / "other"
    model(same, dictionary_sha256=dictionary_sha256())
    model(other, dictionary_sha256="0" * 64)
    assert len(read_models_folder(same)) == 1
    with pytest.raises(FatalError, match="another dictionary"):
        read_models_folder(other)


def test_a_field_of_a_later_release_is_tolerated(tmp_path: Path) -> None:
    model(tmp_path, colour="blue")
    assert len(read_models_folder(tmp_path)) == 1


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    (model(tmp_path) / "weights.onnx").write_bytes(b"NO network")
    with pytest.raises(FatalError, match=r"weights\.onnx has SHA-256"):
        read_models_folder(tmp_path)


def test_a_file_that_was_cut_is_refused_by_its_size(tmp_path: Path) -> None:
    (model(tmp_path) / "vocabulary.txt").write_bytes(b"[UNK]")
    with pytest.raises(FatalError, match="has 5 bytes, its manifest says 16"):
        read_models_folder(tmp_path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    (model(tmp_path) / "weights.onnx").unlink()
    with pytest.raises(FatalError, match="cannot be read"):
        read_models_folder(tmp_path)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"manifest": "5.0"}, "manifest version 5.0"),
        ({"manifest": "3.0", "also": ["de"]}, "also, and a version of before it"),
        ({"weights": "other.onnx"}, "lists no file other.onnx"),
        ({"look_ahead": "nine"}, "look_ahead"),
        ({"manifest": "2.0", "look_back": 0}, "look_back"),
        ({"manifest": "1.2", "look_back": 24}, "look_back, and a version of before it"),
        ({"manifest": "2.0", "closing": True}, "closing, and a version of before it"),
        ({"manifest": "3.0", "closing": True, "look_ahead": [0, 0]}, "closing without look-ahead"),
        ({"files": [{"name": "../weights.onnx", "bytes": 1, "sha256": ""}]}, "lists no file"),
    ],
)
def test_a_manifest_that_cannot_be_is_refused(changes: dict[str, Any], reason: str, tmp_path: Path) -> None:
    model(tmp_path, **changes)
    with pytest.raises(FatalError, match=reason):
        read_models_folder(tmp_path)


def test_a_manifest_cannot_name_a_file_elsewhere(tmp_path: Path) -> None:
    outside = {"name": "../elsewhere", "bytes": 1, "sha256": ""}
    place = model(tmp_path)
    manifest = json.loads((place / "manifest.json").read_text())
    (place / "manifest.json").write_text(json.dumps(manifest | {"files": [*manifest["files"], outside]}))
    with pytest.raises(FatalError, match="not a plain file name"):
        read_models_folder(tmp_path)


def test_a_multilingual_model_is_active_where_no_other_is_wanted(tmp_path: Path) -> None:
    model(tmp_path, "eu", manifest="4.0", language="de", also=["es", "fr"])
    model(tmp_path, "own", language="es", active=False)
    assert languages_of(tmp_path) == ["de", "es", "fr"]
    assert languages_of(tmp_path, active=["own"]) == ["de", "fr", "es"]
    active = {stored.manifest.id: stored.manifest.languages for stored in read_models_folder(tmp_path, active=["own"])}
    assert active == {"eu": ("de", "fr"), "own": ("es",)}


@pytest.mark.parametrize(
    ("models", "chosen", "reason"),
    [
        ([{}, {}], [], "two models are active for en: m0@1 and m1@1"),
        (
            [{"manifest": "4.0", "language": "de", "also": ["es", "fr"]}, {"language": "fr"}],
            [],
            "active for fr: m0@1 and",
        ),
        ([{}, {"active": False}], ["m0", "m1"], "two models are active for en: m0@1 and m1@1"),
        ([{}], ["small"], "small names no one model; there are m0@1"),
        (
            [{"id": "m", "version": one, "active": False} for one in "12"],
            ["m"],
            "m names no one model; there are m@1, m@2",
        ),
        ([{"id": "same"}, {"id": "same", "active": False}], [], "holds same@1 twice"),
    ],
)
def test_models_that_cannot_be_active_together_are_refused(
    models: list[dict[str, Any]], chosen: list[str], reason: str, tmp_path: Path
) -> None:
    for number, changes in enumerate(models):
        model(tmp_path, f"m{number}", **changes)
    with pytest.raises(FatalError, match=reason):
        read_models_folder(tmp_path, active=chosen)


def test_an_inactive_model_of_the_same_language_is_loaded_beside(tmp_path: Path) -> None:
    model(tmp_path, "one")
    model(tmp_path, "two", active=False)
    assert [stored.manifest.active for stored in read_models_folder(tmp_path)] == [True, False]


def test_the_operator_chooses_the_active_model_of_a_language(tmp_path: Path) -> None:
    model(tmp_path, "large")
    model(tmp_path, "small", active=False)
    model(tmp_path, "other", language="zh")
    chosen = read_models_folder(tmp_path, active=["small"])
    assert {stored.manifest.id: stored.manifest.active for stored in chosen} == {
        "large": False,
        "small": True,
        "other": True,
    }


def test_a_version_is_chosen_by_name_and_an_id_means_the_active_one(tmp_path: Path) -> None:
    model(tmp_path, "old", id="one", version="1", active=False)
    model(tmp_path, "new", id="one", version="2")
    for asked, version in (("one@1", "1"), ("one@2", "2"), ("one", "2")):
        active = [stored.manifest for stored in read_models_folder(tmp_path, active=[asked]) if stored.manifest.active]
        assert [manifest.version for manifest in active] == [version]


def test_a_language_whose_only_model_is_chosen_by_the_setting_is_served(tmp_path: Path) -> None:
    model(tmp_path, "small", active=False)
    assert languages_of(tmp_path) == []
    assert languages_of(tmp_path, active=["small"]) == ["en"]


def test_a_folder_without_models_and_one_that_is_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FatalError, match="holds no model"):
        read_models_folder(tmp_path)
    with pytest.raises(FatalError, match="is not a folder"):
        read_models_folder(tmp_path / "nowhere")


@pytest.mark.parametrize("streams", [True, False])
def test_weights_that_are_no_network_are_refused(tmp_path: Path, *, streams: bool) -> None:
    model(tmp_path)
    with pytest.raises(FatalError, match="cannot be loaded"):
        OnnxEngine(tmp_path, threads=1, streams=streams)


def test_an_unknown_class_or_piece_is_refused(tmp_path: Path) -> None:
    model(tmp_path / "classes", punctuation=["none", "hyphen"])
    with pytest.raises(FatalError, match="hyphen"):
        OnnxEngine(tmp_path / "classes", threads=1)
    settings = {"vocabulary": "vocabulary.txt", "max_pieces": 8, "leading": "[BOS]", "unknown": "[UNK]"}
    model(tmp_path / "pieces", wordpiece=settings)
    with pytest.raises(FatalError, match="BOS"):
        OnnxEngine(tmp_path / "pieces", threads=1)


VOCABULARY_FILE = Path(__file__).parents[3] / "models" / "shipped" / "en" / "vocabulary.txt"
VOCABULARY = ["[PAD]", "[UNK]", "un", "##aff", "##able", "aff", "'", "t", "don", "caf", "##e", "3", ".", "5", "\u4e2d"]


def names(word: str, *, max_pieces: int = 8) -> list[str]:
    return [VOCABULARY[number] for number in WordPiece(VOCABULARY, max_pieces=max_pieces).pieces(word)]


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("unaffable", ["un", "##aff", "##able"]),
        ("don't", ["don", "'", "t"]),
        ("3.5", ["3", ".", "5"]),
        ("caf\u00e9", ["caf", "##e"]),
        ("unheard", ["[UNK]"]),
        ("", ["[UNK]"]),
        ("\u4e2d\u4e2d", ["\u4e2d", "\u4e2d"]),
        ("don" + "'" * 20, ["don", *["'"] * 7]),
    ],
)
def test_a_word_is_cut_at_marks_and_matched_longest_first(word: str, pieces: list[str]) -> None:
    assert names(word) == pieces


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("t\u00fa", ["t\u00fa"]),
        ("tu\u0301", ["t\u00fa"]),
        ("tu", ["tu"]),
        ("l'\u00e9t\u00e9", ["l'", "\u00e9", "##t\u00e9"]),
        ("n'", ["[UNK]"]),
        ("3,5", ["3", ",", "5"]),
        ("", ["[UNK]"]),
    ],
)
def test_a_vocabulary_with_accents_tells_them_apart_and_keeps_an_apostrophe(word: str, pieces: list[str]) -> None:
    vocabulary = ["[UNK]", ACCENTED, "t\u00fa", "tu", "l'", "\u00e9", "##t\u00e9", "3", ",", "5"]
    assert [vocabulary[number] for number in WordPiece(vocabulary, max_pieces=8).pieces(word)] == pieces


def test_a_word_has_at_least_one_and_at_most_so_many_pieces() -> None:
    assert names("unaffable", max_pieces=2) == ["un", "##aff"]
    assert names("\u0301") == ["[UNK]"]


def test_a_run_of_more_than_a_hundred_characters_is_unknown() -> None:
    assert names("un" + "aff" * 33 + "able") == ["[UNK]"]


class Encoding(Protocol):
    ids: list[int]


class Published(Protocol):
    def encode(self, text: str, *, add_special_tokens: bool) -> Encoding: ...


@pytest.fixture(scope="module")
def published() -> Published:
    tokenizers = pytest.importorskip("tokenizers")
    numbers = {piece: number for number, piece in enumerate(shipped_vocabulary())}
    tokenizer: Published = tokenizers.BertWordPieceTokenizer(numbers, lowercase=True, strip_accents=True)
    return tokenizer


def shipped_vocabulary() -> list[str]:
    return VOCABULARY_FILE.read_text(encoding="utf-8").rstrip("\n").split("\n")


SCRIPTS = st.one_of(
    # Scripts on whose characters the library's Unicode tables and Python's agree.
    st.characters(max_codepoint=0x052F, exclude_categories=["Cs", "Co", "Cn"]),
    st.characters(min_codepoint=0x2000, max_codepoint=0x22FF, exclude_categories=["Cs", "Co", "Cn"]),
    st.characters(min_codepoint=0x3000, max_codepoint=0x9FA5, exclude_categories=["Cs", "Co", "Cn"]),
    st.characters(min_codepoint=0x1F300, max_codepoint=0x1F5FF, exclude_categories=["Cs", "Co", "Cn"]),
)
OURS = WordPiece(shipped_vocabulary(), max_pieces=64)


@settings(deadline=None)
@given(st.text(alphabet=SCRIPTS, min_size=1, max_size=20))
def test_every_view_has_the_pieces_that_the_published_tokenizer_gives_it(published: Published, text: str) -> None:
    view = model_view("".join(text.split()))
    expected = published.encode(view, add_special_tokens=False).ids
    assert list(OURS.pieces(view)) == (expected[:64] or [OURS.number("[UNK]")])


_LABEL = "import caesura; print(len(caesura.load('en').session().end()))"


@pytest.mark.slow
def test_an_engine_leaves_nothing_in_the_home(tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("ORT_", "XDG_"))}
    ended = subprocess.run(
        [sys.executable, "-c", _LABEL],
        env={**environment, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    assert not [path for path in tmp_path.rglob("*") if "onnxruntime" in str(path)]
