"""The papers' plans from end to end on made-up text: every run trained for a moment, tested, and in its table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from caesura.models.__main__ import app
from caesura.models.data.aligned_words import UNKNOWN
from caesura.models.data.packed_tests import PackedTest
from caesura.models.data.packing import PackedText, pack
from caesura.models.data.resident_text import ResidentText
from caesura.models.evaluation.papers.plans import PLANS, Learnt, PaperRun, Scope, sapr_runs
from caesura.models.evaluation.papers.runs import Workplace, carry_out, first_words, read_learnt
from caesura.models.evaluation.papers.schedule import RunBudget, planned, work_through
from caesura.models.evaluation.papers.side_by_side import SYSTEMS, mean_delay_words
from caesura.models.evaluation.papers.tables import Tables, joint_tables, sapr_tables, self_training_tables
from caesura.models.evaluation.windows import CHUNKS, DoubleOverlap, label_test, stream_test
from caesura.models.networks.checkpoints import load_any_network
from caesura.models.networks.registry import build, describe
from caesura.models.networks.task_dependency import TaskDependency, TaskDependencyConfig
from tests.harness.models.networks import VOCABULARY, document, tokenizer
from tests.harness.models.paper_runs import ENCODER, SCOPE, made_test, shortened, workplace
from tests.harness.places import SHIPPED


def everything(plan: str, place: Workplace) -> list[str]:
    """Carry out each run of a plan as soon as it can be named, and return their names."""
    done: dict[str, dict[str, object]] = {}
    while waiting := [run for run in planned([plan], done, SCOPE) if run.name not in done]:
        run = next(run for run in waiting if set(run.needs) <= set(done))
        done[run.name] = carry_out(shortened(run), place)
    return list(done)


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ("joint", {"single, tags of Switchboard.1", "fs, SEP.1", "dp, COMBINE.1", "pd, COMBINE.1", "pd, masked.1"}),
        ("self-training", {"baseline.1", "baseline, as long.1", "alpha 1.0.1", "alpha 0.25.1"}),
        ("sapr", {"sapr, sentences.1", "sapr, joint.1", "word-cnn, running.1", "t-brnn, running.1"}),
    ],
)
def test_each_system_trains_for_a_moment_is_tested_and_stands_in_its_table(
    plan: str, expected: set[str], tmp_path: Path
) -> None:
    place = workplace(tmp_path)
    names = everything(plan, place)
    assert expected <= set(names)
    if plan == "self-training":
        assert sum("beta" in name and name.startswith("alpha") for name in names) == 3
        assert sum(name.startswith(("mean", "again")) for name in names) == 2
    shown = CliRunner().invoke(app, ["papers-tables", "--folder", str(tmp_path), "--plan", plan])
    assert shown.exit_code == 0, shown.output
    for name in expected:
        assert name.rsplit(".", 1)[0].split(",")[0] in shown.output


@pytest.mark.long
def test_the_command_trains_only_missing_models(tmp_path: Path) -> None:
    place = workplace(tmp_path)
    command = ["papers-train", "--vocabulary", str(place.vocabulary), "--start", str(place.start), "--heads", "1"]
    command += ["--layers", "2", "--folder", str(tmp_path), "--plan", "joint", "--seeds", "1", "--scale", "0.0001"]
    command += ["--only", "pd, COMBINE"]
    first = CliRunner().invoke(app, command)
    assert first.exit_code == 0, first.output
    assert "pd, COMBINE.1" in first.output
    assert [path.stem for path in place.out.glob("*.npz")] == ["pd, COMBINE.1"]
    assert CliRunner().invoke(app, command).output == ""
    refused = CliRunner().invoke(app, [*command, "--plan", "all"])
    assert refused.exit_code == 2


def test_the_betas_are_named_once_every_seed_of_every_alpha_is_done() -> None:
    scope = replace(SCOPE, seeds=2)
    plan = PLANS["self-training"]
    assert not [run for run in plan({}, scope) if "beta" in run.name]
    tuned = {f"alpha {alpha}.{seed}": f1 for alpha, f1 in ((1.0, 60.0), (0.5, 64.0), (0.25, 62.0)) for seed in (1, 2)}
    assert not [run for run in plan({name: tuned[name] for name in list(tuned)[:-1]}, scope) if "beta" in run.name]
    smoothed = [run for run in plan(tuned, scope) if "beta" in run.name]
    assert {run.objective.pseudo_weight for run in smoothed} == {0.5}
    assert len(smoothed) == 6
    betas = {run.name: 60.0 for run in smoothed} | {run.name: 66.0 for run in smoothed if "0.05 and 0.2" in run.name}
    again = [run for run in plan(tuned | betas, scope) if run.name.startswith("again")]
    assert [run.teacher for run in again] == [f"alpha 0.5, beta 0.05 and 0.2.{seed}" for seed in (1, 2)]


def test_names_are_unique_and_under_the_mask_a_word_sees_nine_ahead() -> None:
    for plan in PLANS.values():
        names = [run.name for run in plan({}, replace(SCOPE, seeds=3))]
        assert len(set(names)) == len(names)
    masked = [run for run in PLANS["joint"]({}, SCOPE) if "masked" in run.name]
    assert [sum(run.fields["look_ahead"]) for run in masked] == [9, 9]


def test_labels_to_forget_are_unknown_and_a_teachers_labels_end_sentences(tmp_path: Path) -> None:
    place = workplace(tmp_path)
    learns = (Learnt(corpus="ted", forget="tags", max_words=90), Learnt(corpus="swda_marked", forget="marks"))
    run = PaperRun(name="one.1", kind="word-cnn", seed=1, learns=learns, tests=(), max_words=1)
    text, taught = read_learnt(run, place)
    assert taught is None
    assert set(text.disfluency[:90]) == {UNKNOWN}
    assert UNKNOWN not in text.punctuation[:90]
    assert set(text.punctuation[90:]) == {UNKNOWN}
    assert UNKNOWN not in text.disfluency[90:]


def test_the_first_words_of_a_text_are_a_text() -> None:
    whole = pack([document(20)], tokenizer())
    part = first_words(whole, 30)
    assert part.words == 30
    assert len(part.pieces) == part.first_piece[-1] == whole.first_piece[30]
    assert (PackedText.joined([part, whole]).punctuation[:30] == whole.punctuation[:30]).all()
    assert ResidentText(part, 2).batch([(20, 30)]).words == 10


def labels_one_window_at_a_time(network: TaskDependency, test: PackedTest, overlap: DoubleOverlap) -> list[int]:
    text = ResidentText(test.text, 2)
    marks: list[int] = []
    for begin, end in test.running.tolist():
        for window in overlap.windows(begin, end):
            batch = text.batch([(window.start, window.end)])
            last = (
                test.text.first_piece[window.start + 1 : window.end + 1] - test.text.first_piece[window.start]
            ).tolist()
            said = network(batch.pieces, batch.word_index)[0].argmax(-1)[0, last].tolist()
            marks += said[window.first - window.start : window.last - window.start]
    return marks


def encoder(look_ahead: Sequence[int] = (500_000, 500_000)) -> TaskDependency:
    fields = ENCODER | {"vocabulary_size": len(VOCABULARY), "look_ahead": tuple(look_ahead), "order": "pd"}
    network = TaskDependency(TaskDependencyConfig(**fields)).eval()
    for weights in network.parameters():
        weights.data.mul_(6 if weights.dim() > 1 else 1)
    return network


@pytest.mark.parametrize("overlap", [DoubleOverlap(size=30, left=10, right=5), CHUNKS, DoubleOverlap(size=400)])
def test_windows_label_every_word_once_whatever_batch_they_are_in(overlap: DoubleOverlap) -> None:
    network, test = encoder(), made_test()
    labels = label_test(network, test, "running", leading=2, overlap=overlap)
    assert labels.shape == (2, test.text.words)
    alone = labels_one_window_at_a_time(network, test, overlap)
    assert np.mean(labels[0] == alone) > 0.97  # the batch is read in bfloat16


def test_a_window_keeps_what_has_its_context_on_both_sides() -> None:
    windows = DoubleOverlap(size=120, left=35, right=15).windows(1000, 1250)
    assert [(one.start, one.end) for one in windows] == [(1000, 1120), (1070, 1190), (1140, 1250)]
    assert [(one.first, one.last) for one in windows] == [(1000, 1105), (1105, 1175), (1175, 1250)]
    with pytest.raises(ValueError, match="keeps no word"):
        DoubleOverlap(size=50, left=35, right=15)


def test_sentences_are_labelled_one_by_one_and_a_stream_as_the_worker_does() -> None:
    network, test = encoder((1, 2)), made_test()
    alone = label_test(network, test, "sentences", leading=2)
    first = test.sentences[0]
    text = ResidentText(test.text, 2)
    batch = text.batch([tuple(first.tolist())])
    last = (test.text.first_piece[1 : first[1] + 1] - test.text.first_piece[0]).tolist()
    assert alone[0, : first[1]].tolist() == network(batch.pieces, batch.word_index)[0].argmax(-1)[0, last].tolist()
    streamed = stream_test(network, test, VOCABULARY)
    assert streamed.shape == (2, test.text.words)
    with pytest.raises(ValueError, match="running, sentences"):
        test.cut("paragraphs")


def test_the_done_systems_stand_side_by_side_with_size_and_cost(tmp_path: Path) -> None:
    place = workplace(tmp_path)
    shapes = {run.name: run for plan in PLANS.values() for run in plan({}, SCOPE)}
    for number, name in enumerate(list(SYSTEMS.values())[:-1]):
        marks = np.full((2, made_test().text.words), number % 4, dtype=np.int8)
        np.savez(place.out / f"{name}.1.npz", **{"REF|running": marks, "ASR|running|200,35,15": marks})  # type: ignore[arg-type]
        run = shapes[f"{name}.1"]
        network = build(run.kind, dict(run.fields) | {"vocabulary_size": len(VOCABULARY)})
        facts = {"parameters": sum(weights.numel() for weights in network.parameters()), "words": 1_200}
        (place.out / f"{name}.1.json").write_text(json.dumps(facts))
    command = ["papers-side-by-side", "--vocabulary", str(place.vocabulary), "--start", str(place.start)]
    command += ["--heads", "1", "--layers", "2", "--width", "64", "--folder", str(tmp_path)]
    shown = CliRunner().invoke(app, [*command, "--ours", str(SHIPPED)])
    assert shown.exit_code == 0, shown.output
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in shown.output.splitlines() if "| " in line]
    assert [row[0] for row in rows[2:-1]] == list(SYSTEMS)[:-1]
    assert rows[-1][0].startswith("en-")
    assert all(float(row[-1]) > 0 and float(row[-2]) > 0 for row in rows[2:])
    assert {row[2] for row in rows[2:-1]} == {"1,200"}
    assert {row[4] for row in rows[2:-1]} == {"–"}  # no run was labelled in chunks of that kind
    assert "–" not in {row[3] for row in rows[2:]} | set(rows[-1])
    refused = CliRunner().invoke(app, [*command, "--width", "128"])
    assert refused.exit_code == 1
    assert "t-brnn, running has" in refused.output
    assert mean_delay_words(10_000) == pytest.approx(17, abs=0.1)


@pytest.mark.parametrize("kind", ["task-dependency", "word-cnn", "t-brnn", "sapr"])
def test_the_train_command_knows_each_of_the_networks(kind: str, tmp_path: Path) -> None:
    place = workplace(tmp_path, scale=10)
    command = ["train", "--network", kind, "--order", "dp", "--vocabulary", str(place.vocabulary), "--threads", "1"]
    command += ["--data", str(place.data), "--corpus", "ted", "--max-words", "50", "--max-pieces", "100"]
    done = CliRunner().invoke(app, [*command, "--checkpoint", str(tmp_path / "one.pt")])
    assert done.exit_code == 0, done.output
    network = load_any_network(tmp_path / "one.pt")
    assert describe(network)[0] == kind
    assert describe(network)[1].get("order", "dp") == "dp"


def test_a_system_reads_no_longer_windows_than_the_samples_that_it_learns_from() -> None:
    runs = {run.name: run for run in sapr_runs({}, Scope(seeds=1, scale=1.0, encoder={}, layers=1))}
    assert runs["word-cnn, running.1"].windows == DoubleOverlap()
    sapr = runs["sapr, running.1"]
    assert sapr.windows.size == sapr.longest < DoubleOverlap().size


PERIOD = 2
CUTS = ("running", "sentences", "stream")


def labelled(folder: Path, name: str, marks: Sequence[int], tags: Sequence[int] = ()) -> None:
    """Write a run that gave these labels to every test and cut."""
    rows = np.array([marks, tags or [0] * len(marks)], dtype=np.int8)
    keys = [f"{test}|{cut}" for test in ("REF", "ASR", "swda", "dev tuning", "dev reported") for cut in CUTS]
    np.savez(folder / "out" / f"{name}.npz", **dict.fromkeys(keys, rows))  # type: ignore[arg-type]


def printed(tables: Tables, folder: Path) -> dict[str, str]:
    """Return what a plan's tables say of the runs in a folder, by heading."""
    return dict(tables(folder / "data", folder / "tests", folder / "out"))


def cells(table: str) -> dict[tuple[str, ...], list[str]]:
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    return {tuple(row[:2]): row[2:] for row in rows}


def gold() -> list[int]:
    return [int(mark) for mark in made_test().text.punctuation]


def half_right() -> list[int]:
    """Return the gold marks, every second one that is a mark left out."""
    seen, marks = 0, list[int]()
    for mark in gold():
        seen += mark > 0
        marks.append(mark if seen % 2 else 0)
    return marks


def test_a_mean_of_weights_is_compared_with_all_seeds_of_another_row(tmp_path: Path) -> None:
    workplace(tmp_path)
    labelled(tmp_path, "baseline.1", gold())
    labelled(tmp_path, "baseline.2", [0] * len(gold()))
    labelled(tmp_path, "mean, alpha 1.0.1", half_right())
    labelled(tmp_path, "alpha 1.0.2", half_right())
    tables = printed(self_training_tables, tmp_path)
    compared = cells(tables["Differences"])
    lone = float(compared["mean, alpha 1.0", "baseline"][0].split()[0])
    paired = float(compared["alpha 1.0", "baseline"][0].split()[0])
    assert paired > 30, "its seed 2 is compared with the baseline's seed 2, which finds nothing"
    assert lone < paired - 30, "the lone row is compared with both seeds together, of which the first finds all"


def test_marks_under_sep_are_compared_with_what_was_learnt_from_talks(tmp_path: Path) -> None:
    workplace(tmp_path)
    labelled(tmp_path, "single, marks of talks.1", [0] * len(gold()))
    labelled(tmp_path, "single, marks of Switchboard.1", gold())
    labelled(tmp_path, "single, tags of Switchboard.1", [0] * len(gold()))
    labelled(tmp_path, "fs, SEP.1", gold())
    labelled(tmp_path, "fs, COMBINE.1", gold())
    tables = printed(joint_tables, tmp_path)
    added = cells(tables["What each adds, F1"])
    assert {cell.split()[0] for cell in added["fs, SEP", "single, tags of Switchboard"][-3:]} == {"+100.0"}
    assert {cell.split()[0] for cell in added["fs, COMBINE", "single, tags of Switchboard"][-3:]} == {"+0.0"}


def test_table_one_says_what_the_given_sentence_ends_alone_are_worth(tmp_path: Path) -> None:
    workplace(tmp_path)
    labelled(tmp_path, "sapr, running.1", gold())
    tables = printed(sapr_tables, tmp_path)
    row = cells(tables["Table I on REF"])["a period at each given end", "–"]
    test: PackedTest = made_test()
    ends = test.sentences[:, 1] - 1
    hits = sum(gold()[end] == PERIOD for end in ends)
    assert float(row[1].split()[0]) == pytest.approx(200 * hits / (len(ends) + gold().count(PERIOD)), abs=0.05)


def test_a_plan_that_is_done_is_left_though_its_runs_name_one_another(tmp_path: Path) -> None:
    place = workplace(tmp_path)
    done: dict[str, dict[str, object]] = {}
    while waiting := [run for run in planned(["self-training"], done, SCOPE) if run.name not in done]:
        for run in waiting:
            done[run.name] = {"tuning": 50.0 + len(done)}
            (place.out / f"{run.name}.json").write_text(json.dumps(done[run.name]))
    told: list[str] = []
    assert set(work_through(["self-training"], SCOPE, place, RunBudget(), tell=told.append)) == set(done)
    assert any(name.startswith("again") for name in done)
    assert not told


def test_a_kept_run_stopped_in_its_test_is_tested_and_not_trained_again(tmp_path: Path) -> None:
    place = workplace(tmp_path)
    baseline, student = (
        shortened(next(run for run in PLANS["self-training"]({}, SCOPE) if run.name == name))
        for name in ("baseline.1", "alpha 1.0.1")
    )
    carry_out(baseline, place)
    carry_out(student, place)
    before = (place.out / "alpha 1.0.1.pt").read_bytes()
    (place.out / "alpha 1.0.1.json").unlink()
    (place.out / "alpha 1.0.1.npz").unlink()
    carry_out(replace(student, max_words=10**9), place)  # which nobody would wait for
    assert (place.out / "alpha 1.0.1.npz").exists()
    assert (place.out / "alpha 1.0.1.pt").read_bytes() == before
    load_any_network(place.out / "alpha 1.0.1.pt")
