"""A language that nobody serves, and text in another script than its own, are said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.command import caesura
from tests.harness.terminal import Terminal


@pytest.mark.parametrize("lang", ["klingon", "english"])
def test_a_language_that_nobody_serves_is_said_with_what_there_is(
    terminal: Terminal, tmp_path: Path, lang: str
) -> None:
    (tmp_path / "a.txt").write_text("so yes\n")
    done = terminal.run("punctuate", str(tmp_path / "a.txt"), "--lang", lang)
    assert f"there is no model for {lang}, there is one for en and zh" in done.err
    assert ("did you mean en?" in done.err) == (lang == "english")


@pytest.mark.parametrize("command", [("replay", "--dry-run"), ("bridge", "--dry-run", "--from", "vosk")])
def test_who_sends_words_is_told_of_a_language_that_nobody_serves_and_they_are_sent(
    terminal: Terminal, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "so yes"}\n')
    done = terminal.run(*command, str(tmp_path / "a.jsonl"), "--lang", "english")
    assert done.status == 0
    assert "there is no model for english, there is one for en and zh" in done.err
    assert "did you mean en?" in done.err
    assert '"text":"yes"' in done.out
    for served in ("en-GB", "zh"):
        assert "no model" not in terminal.run(*command, str(tmp_path / "a.jsonl"), "--lang", served).err


def test_a_machine_without_models_is_told_nothing_of_languages(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("so yes\n")
    empty = f"worker.models_dir={tmp_path}"
    done = terminal.run("replay", "--dry-run", str(tmp_path / "a.txt"), "--lang", "klingon", "--set", empty)
    assert done.status == 0
    assert "no model" not in done.err


def test_a_recognisers_text_in_another_script_than_its_languages_is_said(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "大家 早上好"}\n')
    done = terminal.run("bridge", "--dry-run", "--from", "vosk", str(tmp_path / "a.jsonl"))
    assert "the text is mostly Chinese characters, and its language is said to be en" in done.err


@pytest.mark.parametrize("said", ["你好吗\n", "大家早上好我刚刚到办公室\n" * 2])
def test_text_in_another_script_than_its_languages_is_said(terminal: Terminal, tmp_path: Path, said: str) -> None:
    (tmp_path / "a.txt").write_text(said)
    done = terminal.run("punctuate", str(tmp_path / "a.txt"))
    assert done.err.count("did you mean --lang zh?") == 1
    done = terminal.run("replay", str(tmp_path / "a.txt"), "--dry-run")
    assert done.err.count("did you mean --lang zh?") == 1


@pytest.mark.parametrize("said", ["привет как дела", "مرحبا كيف حالك", "안녕하세요 여러분 오늘은"])
@pytest.mark.parametrize("lang", ["en", "en-GB", "zh", "ru"])
def test_text_in_a_script_that_no_model_was_trained_on_is_said_and_comes_out(
    terminal: Terminal, tmp_path: Path, said: str, lang: str
) -> None:
    (tmp_path / "a.txt").write_text(f"{said}\n" * 2)
    done = terminal.run("punctuate", str(tmp_path / "a.txt"), "--lang", lang, "--output", "verbatim")
    assert done.out == f"{said}\n" * 2
    told = f"the text is mostly of another script, and its language is said to be {lang}: its labels mean nothing"
    assert done.err.count(told) == (lang != "ru")


@pytest.mark.parametrize("said", ["we met José Müller at the Café Škoda", "so Иван said hello to everybody"])
def test_names_of_other_languages_are_no_other_script(terminal: Terminal, tmp_path: Path, said: str) -> None:
    (tmp_path / "a.txt").write_text(f"{said}\n")
    assert "mostly" not in terminal.run("punctuate", str(tmp_path / "a.txt")).err


def test_a_language_without_a_model_is_said_and_its_words_come_out() -> None:
    done = caesura("punctuate", "--lang", "fr", given="bonjour à tous\n")
    assert done.stdout == "bonjour à tous\n"
    assert "no model for fr" in done.stderr


def test_a_model_to_be_active_that_is_not_there_is_refused_with_those_that_are(
    terminal: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("so yes\n")
    done = terminal.run("punctuate", str(tmp_path / "a.txt"), "--set", 'worker.active_models=["tiny"]')
    assert done.status != 0
    assert "worker.active_models: tiny names no one model; there are en-ct-12x384@" in done.err
