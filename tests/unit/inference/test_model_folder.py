"""A models folder is verified before it is used; what is wrong with it is said plainly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.dictionary import dictionary_sha256
from caesura.worker.errors import FatalError
from caesura.worker.inference.model.model_folder import languages_of, read_models_folder
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


def test_a_model_of_several_languages_is_active_for_those_that_no_other_is_wanted_for(tmp_path: Path) -> None:
    model(tmp_path, "eu", manifest="4.0", language="de", also=["es", "fr"])
    model(tmp_path, "own", language="es", active=False)
    assert languages_of(tmp_path) == ["de", "es", "fr"]
    assert languages_of(tmp_path, active=["own"]) == ["de", "fr", "es"]
    active = {stored.manifest.id: stored.manifest.languages for stored in read_models_folder(tmp_path, active=["own"])}
    assert active == {"eu": ("de", "fr"), "own": ("es",)}


def test_two_models_may_not_be_active_for_one_of_several_languages(tmp_path: Path) -> None:
    model(tmp_path, "eu", manifest="4.0", language="de", also=["es", "fr"])
    model(tmp_path, "own", language="fr")
    with pytest.raises(FatalError, match="two models are active for fr: eu@1 and own@1"):
        read_models_folder(tmp_path)


def test_one_model_a_language_may_be_active(tmp_path: Path) -> None:
    model(tmp_path, "one")
    model(tmp_path, "two")
    with pytest.raises(FatalError, match="two models are active for en: one@1 and two@1"):
        read_models_folder(tmp_path)


def test_an_inactive_model_of_the_same_language_is_loaded_beside(tmp_path: Path) -> None:
    model(tmp_path, "one")
    model(tmp_path, "two", active=False)
    assert [stored.manifest.active for stored in read_models_folder(tmp_path)] == [True, False]


def test_whoever_runs_the_worker_says_which_model_of_a_language_is_active(tmp_path: Path) -> None:
    model(tmp_path, "large")
    model(tmp_path, "small", active=False)
    model(tmp_path, "other", language="zh")
    chosen = read_models_folder(tmp_path, active=["small"])
    assert {stored.manifest.id: stored.manifest.active for stored in chosen} == {
        "large": False,
        "small": True,
        "other": True,
    }


def test_an_id_that_no_model_has_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    model(tmp_path, "large")
    with pytest.raises(FatalError, match="small names no one model; there are large@1"):
        read_models_folder(tmp_path, active=["small"])


def test_a_version_is_chosen_by_its_name_and_of_several_an_id_means_the_active_one(tmp_path: Path) -> None:
    model(tmp_path, "old", id="one", version="1", active=False)
    model(tmp_path, "new", id="one", version="2")
    for asked, version in (("one@1", "1"), ("one@2", "2"), ("one", "2")):
        active = [stored.manifest for stored in read_models_folder(tmp_path, active=[asked]) if stored.manifest.active]
        assert [manifest.version for manifest in active] == [version]


def test_an_id_of_several_versions_of_which_none_is_active_is_refused_with_their_names(tmp_path: Path) -> None:
    model(tmp_path, "old", id="one", version="1", active=False)
    model(tmp_path, "new", id="one", version="2", active=False)
    with pytest.raises(FatalError, match="one names no one model; there are one@2, one@1"):
        read_models_folder(tmp_path, active=["one"])


def test_a_language_whose_only_model_is_chosen_by_the_setting_is_served(tmp_path: Path) -> None:
    model(tmp_path, "small", active=False)
    assert languages_of(tmp_path) == []
    assert languages_of(tmp_path, active=["small"]) == ["en"]


def test_two_models_of_one_language_cannot_be_chosen(tmp_path: Path) -> None:
    model(tmp_path, "large")
    model(tmp_path, "small", active=False)
    with pytest.raises(FatalError, match="two models are active for en: large@1 and small@1"):
        read_models_folder(tmp_path, active=["small", "large"])


def test_the_same_name_twice_is_refused(tmp_path: Path) -> None:
    model(tmp_path, "one", id="same")
    model(tmp_path, "two", id="same", active=False)
    with pytest.raises(FatalError, match="holds same@1 twice"):
        read_models_folder(tmp_path)


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


def test_a_class_or_piece_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    model(tmp_path / "classes", punctuation=["none", "hyphen"])
    with pytest.raises(FatalError, match="hyphen"):
        OnnxEngine(tmp_path / "classes", threads=1)
    settings = {"vocabulary": "vocabulary.txt", "max_pieces": 8, "leading": "[BOS]", "unknown": "[UNK]"}
    model(tmp_path / "pieces", wordpiece=settings)
    with pytest.raises(FatalError, match="BOS"):
        OnnxEngine(tmp_path / "pieces", threads=1)
