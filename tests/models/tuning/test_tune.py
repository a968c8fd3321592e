"""A tiny model tuned on made-up text: it learns, stops, goes on, refuses, and ends as a folder that a worker loads."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import msgspec
import pytest
import torch
from typer.testing import CliRunner, Result

from caesura.models.__main__ import app
from caesura.models.data.aligned_words import UNKNOWN
from caesura.models.data.packing import pack
from caesura.models.data.resident_text import ResidentText, batches
from caesura.models.decoding.checkpoint_engine import CheckpointEngine
from caesura.models.decoding.labelling_runs import published_words
from caesura.models.evaluation.figures import GoldSession
from caesura.models.export.parity import Parity
from caesura.models.export.stored_network import read_network
from caesura.models.networks.checkpoints import load_network
from caesura.models.networks.ct_transformer import CTTransformer
from caesura.models.tuning import tuning
from caesura.models.tuning.comparison import Streamed, changed_tags, figures
from caesura.models.tuning.early_stopping import EarlyStopping, Look, held_out_loss
from caesura.models.tuning.own_text import OwnFile, aligned
from caesura.models.tuning.report import report
from caesura.models.tuning.tuning import Tuned, TuningPlan, to_learn
from caesura.schemas.labels import Casing, Punctuation
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.inference.model.model_folder import StoredModel, read_models_folder
from tests.harness.models.networks import LEADING, VOCABULARY, document, exported, tiny_config, tiny_network, tokenizer
from tests.harness.models.own_texts import write_files, write_folder


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a models folder with one tiny model that knows nothing."""
    folder = tmp_path_factory.mktemp("start")
    torch.manual_seed(1)
    exported(CTTransformer(tiny_config()), folder / "en", int8=True)
    return folder


def tune(start: Path, text: Path, out: Path, *options: str) -> Result:
    fixed = ("--language", "en", "--models", str(start), "--out", str(out), "--threads", "1")
    return CliRunner().invoke(app, ["tune", str(text), *fixed, "--learning-rate", "0.006", *options])


def overall(result: Result, when: str) -> float:
    row = next(line for line in result.output.splitlines() if line.startswith(f"| {when} | streaming | overall |"))
    return float(row.split("|")[6])


def looks(out: Path) -> list[float]:
    return [look["share"] for look in json.loads((out / "looks.json").read_text())["looks"]]


@pytest.fixture(scope="module")
def learnt(start: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """Return a folder with a text and the models of a tune that learnt it, and what the tune said."""
    folder = tmp_path_factory.mktemp("learnt")
    asked = ("--id", "mine", "--version", "2", "--epochs", "6")
    done = tune(start, write_folder(folder / "text"), folder / "out", *asked)
    assert done.exit_code == 0, done.output
    return folder, done


def test_a_tune_learns_the_marks_and_leaves_a_folder_that_a_worker_loads(learnt: tuple[Path, Result]) -> None:
    folder, done = learnt
    out = folder / "out"
    assert overall(done, "before") < 40
    assert overall(done, "after") > 75
    assert "better than the model that it began at" in done.output
    assert f"CAESURA_WORKER_MODELS_DIR={out / 'models'}" in done.output
    served = {model.name: model.active for model in OnnxEngine(out / "models", threads=1).models}
    assert served == {"mine@2": True, "tiny@1": False}
    tuned = next(one for one in read_models_folder(out / "models") if one.manifest.id == "mine")
    assert tuned.manifest.trained_on == ("made up", "own text")
    assert tuned.manifest.licence == "CC0-1.0"


@pytest.fixture(scope="module")
def whole(start: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Result]:
    """Return a text, the folder of a tune on it that went through both its epochs, and what the tune said."""
    folder = tmp_path_factory.mktemp("whole")
    text, out = write_folder(folder / "text"), folder / "out"
    done = tune(start, text, out, "--epochs", "2")
    assert done.exit_code == 0, done.output
    return text, out, done


def test_a_share_of_the_weights_begun_at_is_kept_without_training_again(
    start: Path, whole: tuple[Path, Path, Result]
) -> None:
    text, out, _ = whole
    looked = (out / "looks.json").read_bytes()
    again = tune(start, text, out, "--epochs", "2", "--kept", "0.75")
    assert again.exit_code == 0, again.output
    assert (out / "looks.json").read_bytes() == looked
    (begun,) = read_models_folder(start)
    before, learnt = read_network(begun, off_grid_seed=1).state_dict(), load_network(out / "best.pt").state_dict()
    stored = next(one for one in read_models_folder(out / "models") if one.manifest.id == "tiny-own")
    differ = 0
    for name, weights in read_network(stored).state_dict().items():
        mixed = 0.75 * before[name] + 0.25 * learnt[name]
        step = float(mixed.abs().max()) / 63
        assert torch.allclose(weights, mixed, atol=1.01 * step), name
        differ += not torch.allclose(weights, learnt[name], atol=1.01 * step)
    assert differ > 0


def test_models_of_other_languages_come_along_and_the_licence_too(start: Path, tmp_path: Path) -> None:
    manifest = json.loads((start / "en" / "manifest.json").read_text()) | {"id": "other", "language": "xx"}
    models = tmp_path / "start"
    for language in ("en", "xx"):
        copytree(start / "en", models / language)
    (models / "xx" / "manifest.json").write_text(json.dumps(manifest))
    (models / "en" / "LICENSE.md").write_text("Share alike.")
    out = tmp_path / "out"
    assert tune(models, write_folder(tmp_path / "text"), out, "--epochs", "1").exit_code == 0
    served = {(one.manifest.name, one.manifest.active) for one in read_models_folder(out / "models")}
    assert served == {("tiny-own@1", True), ("tiny@1", False), ("other@1", True)}
    assert (out / "models" / "tiny-own-1" / "LICENSE.md").read_text() == "Share alike."


def test_a_tune_that_gets_no_better_stops_and_exports_nothing(learnt: tuple[Path, Result], tmp_path: Path) -> None:
    folder, _ = learnt
    out = tmp_path / "out"
    options = ("--version", "2", "--epochs", "12", "--patience", "2", "--learning-rate", "0.1")
    done = tune(folder / "out" / "models", folder / "text", out, *options)
    assert done.exit_code != 0
    assert "nothing is exported" in str(done.exception)
    assert len(looks(out)) == 3  # one before training, two that were no better
    assert not (out / "models").exists()


def test_a_watcher_ends_after_so_many_looks_without_a_gain_and_keeps_the_best(tmp_path: Path) -> None:
    text = pack([document(40)], tokenizer())
    watched = list(batches(ResidentText(text, LEADING), max_pieces=600, seed=1))
    networks = [tiny_network(seed=seed) for seed in range(1, 7)]
    networks.sort(key=lambda network: held_out_loss(network, watched))
    second, best, *worse = networks[1], networks[0], *networks[2:]
    told: list[str] = []
    watcher = EarlyStopping(tmp_path, watched, 3, tell=told.append)
    assert [watcher(network, 0.1 * k) for k, network in enumerate((second, best, worse[0]))] == [False] * 3
    again = EarlyStopping(tmp_path, watched, 3)  # the process was stopped and started
    assert [again(worse[1], 0.3), again(worse[2], 0.4)] == [False, True]
    assert again.ended
    assert again.best_look.share == pytest.approx(0.1)
    for name, weights in best.state_dict().items():
        assert torch.equal(load_network(again.best).state_dict()[name], weights), name
    assert [line.endswith("the best so far") for line in told] == [True, True, False]


def test_a_tune_that_was_stopped_goes_on_where_it_was(
    start: Path, whole: tuple[Path, Path, Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, at_once, _ = whole
    separated = tmp_path / "separated"
    with monkeypatch.context() as patch:
        patch.setattr(tuning, "read_network", stopping_after(4))
        assert isinstance(tune(start, text, separated, "--epochs", "2").exception, SystemExit | KeyboardInterrupt)
    assert 1 < len(looks(separated)) < len(looks(at_once))
    assert tune(start, text, separated, "--epochs", "2").exit_code == 0
    assert looks(separated) == looks(at_once)
    ours, theirs = load_network(separated / "best.pt").state_dict(), load_network(at_once / "best.pt").state_dict()
    for name, weights in ours.items():
        assert torch.allclose(weights, theirs[name], atol=1e-5), name


def stopping_after(steps: int) -> object:
    """Return a reader of networks whose network is interrupted, as by a user, after some steps of training."""

    def read(stored: StoredModel, *, off_grid_seed: int) -> CTTransformer:
        network = read_network(stored, off_grid_seed=off_grid_seed)
        left = [steps]

        def count(*_: object) -> None:
            left[0] -= network.training
            if left[0] < 0:
                raise KeyboardInterrupt

        network.register_forward_pre_hook(count)
        return network

    return read


def test_a_tune_that_has_ended_is_not_trained_again(start: Path, whole: tuple[Path, Path, Result]) -> None:
    text, out, first = whole
    trained = (out / "best.pt").stat().st_mtime_ns
    again = tune(start, text, out, "--epochs", "2", "--version", "3")
    assert (out / "best.pt").stat().st_mtime_ns == trained
    assert overall(again, "after") == overall(first, "after")
    assert {one.manifest.name for one in read_models_folder(out / "models")} == {"tiny@1", "tiny-own@3"}


def test_a_folder_of_another_tune_or_of_anything_else_is_left_alone(
    start: Path, whole: tuple[Path, Path, Result], tmp_path: Path
) -> None:
    text, out, _ = whole
    other = tune(start, text, out, "--epochs", "1")
    assert "begun with other values of epochs" in str(other.exception)
    another = write_files(copytree(text, tmp_path / "text"), {"talk-0.txt": "We left, today. " * 200 + "\nIs it?\n"})
    assert "other values of text" in str(tune(start, another, out, "--epochs", "2").exception)
    home = write_files(tmp_path / "home", {"models/precious": "Mine."})
    assert "is not empty and holds no tune" in str(tune(start, text, home).exception)
    assert (home / "models" / "precious").read_text() == "Mine."


def test_fluent_text_is_trained_on_with_fillers_and_repairs_put_in() -> None:
    file = OwnFile(name="a.txt", paragraphs=("We left today, and then we saw a bird. Where is it?",) * 40)
    plan = TuningPlan(
        language="en", epochs=1, patience=1, learning_rate=1e-3, max_minutes=1.0, fluent=True, threads=1, seed=1
    )
    learnt = to_learn(file, plan)
    assert sum(tag > 0 for tag in learnt.disfluency) > 5
    assert UNKNOWN not in learnt.disfluency
    kept = [word for word, tag in zip(learnt.words, learnt.disfluency, strict=True) if not tag]
    assert kept == aligned(file, "en").words
    assert to_learn(file, plan) == learnt
    assert set(to_learn(file, msgspec.structs.replace(plan, fluent=False)).disfluency) == {UNKNOWN}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--language", "pt"), "language pt is none of en, zh, de, es, fr"),
        (("--language", "zh"), "there is no model for language zh"),
        (("--id", "a b"), "letters, digits"),
        (("--id", "tiny"), "there is a model tiny@1 already"),
    ],
)
def test_contradicting_options_are_refused_before_writing(
    options: tuple[str, ...], said: str, start: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = tune(start, write_folder(tmp_path / "text"), out, *options)
    assert done.exit_code != 0
    assert said in str(done.exception)
    assert not out.exists()


def test_too_few_words_are_refused_with_their_number(start: Path, tmp_path: Path) -> None:
    done = tune(start, write_folder(tmp_path / "text", files=10, paragraphs=2), tmp_path / "out")
    assert "words are left to train on, at least 1000 are needed" in str(done.exception)
    assert not (tmp_path / "out").exists()


GOLD = ([0] * 9 + [int(Punctuation.PERIOD)]) * 60
SESSIONS = [GoldSession(["word"] * len(GOLD), GOLD, [0] * len(GOLD))]


def labels(right_of_ten: int) -> Streamed:
    """Return labels of which so many in ten sentence ends are right."""
    ends = [place for place, mark in enumerate(GOLD) if mark]
    right = {place for number, place in enumerate(ends) if number % 10 < right_of_ten}
    marks = [int(Punctuation.PERIOD) if place in right else 0 for place in range(len(GOLD))]
    return Streamed(marks=marks, tags=[3, 3, *[0] * (len(GOLD) - 2)])


def said(before: int, after: int, tmp_path: Path) -> str:
    tuned = Tuned(
        manifest=exported(tiny_network(), tmp_path / "en", int8=True),
        parity=Parity(
            labels=20,
            words=10,
            fp32_largest_difference=0.0,
            fp32_labels_differing=0,
            int8_labels_differing=1,
            int8_batch_labels_differing=0,
        ),
        looks=(Look(share=0.0, loss=0.5), Look(share=0.5, loss=0.2), Look(share=1.0, loss=0.3)),
        figures=[*figures("before", SESSIONS, labels(before), "en"), *figures("after", SESSIONS, labels(after), "en")],
        changed_tags=changed_tags(labels(before), labels(after)),
    )
    return report(tuned, tmp_path)


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (2, 9, "better than the model that it began at"),
        (9, 2, "worse than the model that it began at"),
        (6, 6, "no difference that this much text can show"),
    ],
)
def test_a_gain_is_claimed_only_where_its_interval_is_above_zero(
    before: int, after: int, verdict: str, tmp_path: Path
) -> None:
    assert verdict in said(before, after, tmp_path)


def test_the_report_names_the_setting_the_losses_and_the_tags_that_changed(tmp_path: Path) -> None:
    text = said(2, 9, tmp_path)
    assert f"CAESURA_WORKER_MODELS_DIR={tmp_path / 'models'}" in text
    assert "loss 0.5000 at first, 0.2000 at the best of 2 looks" in text
    assert "2 of 600 words tagged before, 2 after, 0 differently" in text


def test_a_tune_keeps_the_third_head_and_learns_how_the_text_writes_words(tmp_path: Path) -> None:
    torch.manual_seed(1)
    network = CTTransformer(replace(tiny_config(), casing_classes=len(Casing)))
    exported(network, tmp_path / "start" / "en", int8=True)
    text = write_folder(tmp_path / "text")
    for file in text.glob("*.txt"):
        file.write_text(file.read_text().replace("bird", "Bird").replace(" dog", " DOG"))
    options = ["--language", "en", "--models", str(tmp_path / "start"), "--out", str(tmp_path / "out")]
    options += ["--threads", "1", "--learning-rate", "0.01", "--epochs", "7", "--id", "mine", "--version", "2"]
    done = CliRunner().invoke(app, ["tune", str(text), *options])
    assert done.exit_code == 0, done.output

    (tuned,) = (one for one in read_models_folder(tmp_path / "out" / "models") if one.manifest.id == "mine")
    assert tuned.manifest.casing == tuple(casing.published for casing in Casing)
    said = ["the", "bird", "saw", "a", "dog", "and", "the", "cat", "saw", "a", "bird"]
    (words,) = published_words(CheckpointEngine(read_network(tuned), VOCABULARY), [said], language="en")
    wanted = {"bird": "capital_first", "dog": "all_capitals"}
    assert [word.casing for word in words] == [wanted.get(word, "small") for word in said]
