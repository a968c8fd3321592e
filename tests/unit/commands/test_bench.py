"""``caesura bench`` on the shipped model, with a load of a few sessions."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import pytest

from caesura.worker.cli import main
from tests.harness.places import SHIPPED

pytestmark = pytest.mark.slow


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    quick = ("--seconds", "1", "--first", "2", "--most", "2", "--delay-ms", "60000")  # a busy machine is no failure
    code = ended_with(monkeypatch, *quick, *arguments)
    assert not code
    return capsys.readouterr().out


def ended_with(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    """Run the command; return its exit status."""
    monkeypatch.setattr(sys, "argv", ["caesura", "bench", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    logging.getLogger("caesura.kafka").setLevel(logging.NOTSET)  # the command silences it for its process
    return ended.value.code


def test_bench_measures_this_machine_and_advises_settings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = run(monkeypatch, capsys, "--sessions", "5000")
    assert "words a second of a backlog" in said
    assert "For 5,000 live sessions" in said
    assert "engine_memory_mib" in said
    assert "not measured" in said


def test_its_json_has_what_is_measured_and_advised_in_each_language(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    english, chinese = (
        json.loads(run(monkeypatch, capsys, "--json", "--language", language)) for language in ("en", "zh")
    )
    assert (english["language"], chinese["language"]) == ("en", "zh")
    for said in (english, chinese):
        assert said["measured"]["words_a_second"] > 0
        assert said["measured"]["row_bytes"] > 0
        assert [stage["sessions"] for stage in said["measured"]["stages"]][:1]
        assert said["advice"]["replicas"] >= 2
        assert said["around"] > 1
    assert chinese["measured"]["row_bytes"] != english["measured"]["row_bytes"]


def test_a_language_without_an_active_model_is_not_measured_by_another(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "en-small").symlink_to(SHIPPED / "en-small")
    served = ("--set", f"worker.models_dir={tmp_path}", "--set", 'worker.active_models=["en-ct-3x384"]')
    assert ended_with(monkeypatch, "--language", "zh", *served) == 1
    assert "zh is to be spoken (--language), and no model for it is active" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--language", "it"), "there is no speech in 'it', only in en, zh, de, es, fr"),
        (("--first", "10", "--most", "4"), "--first 10 is more than --most 4"),
        (("--delay-ms", "100"), "worker.commit_interval_ms is 100: words wait for a checkpoint"),
        (("--delay-ms", "101"), "beyond 101 ms with a checkpoint"),
    ],
)
def test_bench_says_why_it_advises_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str
) -> None:
    assert ended_with(monkeypatch, "--seconds", "0.5", "--first", "2", "--most", "2", *arguments) == 1
    assert told in capsys.readouterr().err
