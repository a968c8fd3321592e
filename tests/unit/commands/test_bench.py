"""``caesura bench`` on the shipped model, with a load of a few sessions."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from worker.cli import main


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    monkeypatch.setattr(sys, "argv", ["caesura", "bench", "--seconds", "1", "--first", "2", "--most", "2", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    logging.getLogger("caesura.kafka").setLevel(logging.NOTSET)  # the command silences it for its process
    assert not ended.value.code
    return capsys.readouterr().out


def test_it_measures_this_machine_and_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = run(monkeypatch, capsys, "--sessions", "5000")
    assert "words a second of a backlog" in said
    assert "For 5,000 live sessions" in said
    assert "engine_memory_mib" in said
    assert "not measured" in said


def test_its_json_has_what_was_measured_and_what_is_advised(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = json.loads(run(monkeypatch, capsys, "--json"))
    assert said["measured"]["words_a_second"] > 0
    assert said["measured"]["row_bytes"] > 0
    assert [stage["sessions"] for stage in said["measured"]["stages"]][:1]
    assert said["advice"]["replicas"] >= 2
    assert said["around"] > 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--first", "10", "--most", "4"), "--first 10 is more than --most 4"),
        (("--set", "worker.commit_interval_ms=300"), "worker.commit_interval_ms is 300: words wait for a checkpoint"),
        (("--set", "worker.commit_interval_ms=249"), "this core carries none"),
    ],
)
def test_where_nothing_can_be_advised_it_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str
) -> None:
    short = ("--seconds", "0.5", "--first", "2", "--most", "2")
    monkeypatch.setattr(sys, "argv", ["caesura", "bench", *short, *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    logging.getLogger("caesura.kafka").setLevel(logging.NOTSET)  # the command silences it for its process
    assert ended.value.code == 1
    assert told in capsys.readouterr().err
