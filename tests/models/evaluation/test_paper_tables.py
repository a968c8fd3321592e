"""The papers' tables and their schedule: what is compared with what, and that nothing done is done again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from caesura.models.data.packed_tests import PackedTest
from caesura.models.evaluation.papers.plans import PLANS
from caesura.models.evaluation.papers.runs import carry_out
from caesura.models.evaluation.papers.schedule import RunBudget, planned, work_through
from caesura.models.evaluation.papers.tables import Tables, joint_tables, sapr_tables, self_training_tables
from caesura.models.networks.checkpoints import load_any_network
from tests.harness.models.paper_runs import SCOPE, made_test, shortened, workplace

pytestmark = pytest.mark.torch

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


def test_a_kept_run_that_was_stopped_as_it_was_tested_is_tested_and_not_trained_again(tmp_path: Path) -> None:
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
