"""``caesura punctuate``: one line one session, words untouched, by the streaming core."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.commands.punctuate import Lines
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.rendering.rendering import Style
from tests.harness.command import CAESURA, caesura, outside
from tests.harness.places import ROOT
from tests.harness.shipped_models import ENGLISH, one_model
from tests.harness.terminal import Terminal

WORDS = "so we tried it-stop um did it work-ask yes-comma and then we all went home again to sleep on it-stop\n"


def lines(style: Style | None, lang: str = "en", *, hashed: bool = False) -> Lines:
    engine = ScriptedEngine() if hashed else ScriptedEngine(script=marked_words)
    return Lines(engine=engine, lang=lang, rules=DecodingRules(), style=style)


def test_marks_are_restored_and_fillers_left_out() -> None:
    assert lines(Style.FLUENT).punctuated(WORDS, session="a") == (
        "So we tried it-stop. Did it work-ask? Yes-comma, and then we all went home again to sleep on it-stop.\n"
    )


def test_every_word_is_there_where_it_is_asked_for() -> None:
    assert "{um}" in lines(Style.MARKED).punctuated(WORDS, session="a").lower()


def test_json_lines_hold_every_published_segment_with_its_words_as_they_came() -> None:
    segments = [json.loads(line) for line in lines(None).punctuated(WORDS, session="a").splitlines()]
    words = [word for segment in segments for word in segment["words"]]
    assert [word["text"] for word in words] == WORDS.split()
    assert words[3] == {"text": "it-stop", "punctuation": "period", "disfluency": "O"}
    assert words[4]["disfluency"] == "B-IM"
    assert [segment["cause"] for segment in segments] == ["sentence", "sentence", "end"]
    assert [segment["index"] for segment in segments] == [0, 1, 2]


@pytest.mark.parametrize("style", [Style.FLUENT, Style.MARKED, Style.VERBATIM])
def test_an_empty_line_stays_an_empty_line(style: Style) -> None:
    assert lines(style).punctuated("\n", session="a") == "\n"


def test_an_empty_line_publishes_nothing() -> None:
    assert lines(None).punctuated(" \n", session="a") == ""


def test_chinese_has_marks_and_no_spaces() -> None:
    text = lines(Style.MARKED, "zh", hashed=True).punctuated("今天 天气 怎么样 我们 去 公园 走走 吧\n", session="a")
    assert " " not in text


def test_a_language_without_a_model_keeps_its_words() -> None:
    assert lines(Style.FLUENT, "fr").punctuated("bonjour à tous\n", session="a") == "bonjour à tous\n"


@given(
    line=st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=9), max_size=60).map(
        "  ".join
    ),
    lang=st.sampled_from(["en", "zh", "fr"]),
)
def test_verbatim_is_the_line_byte_for_byte(line: str, lang: str) -> None:
    assert lines(Style.VERBATIM, lang, hashed=True).punctuated(line, session="a") == line


def test_a_missing_file_is_one_line(terminal: Terminal) -> None:
    done = terminal.run("punctuate", "no-such-file.txt")
    assert (done.status, done.err) == (
        1,
        "caesura: no-such-file.txt cannot be read: No such file or directory\n",
    )


def test_a_text_is_replayed_into_the_routes_that_are_named(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text("so yes\n", encoding="utf-8")
    replay = ("replay", str(tmp_path / "talk.txt"), "--dry-run", "--target", "de", "--target")
    said = [json.loads(line).get("targets") for line in terminal.run(*replay, "fr").out.splitlines()]
    assert said == [["de", "fr"], None]
    assert "--target: expected names of translation routes, each once" in terminal.run(*replay, "de").err


@pytest.mark.parametrize(("text", "given", "told"), [("so yes\n", "srt", "srt"), ("\n\n", "auto", "text")])
def test_a_file_of_which_nothing_can_be_sent_is_told(
    terminal: Terminal, tmp_path: Path, text: str, given: str, told: str
) -> None:
    (tmp_path / "talk.txt").write_text(text, encoding="utf-8")
    said = terminal.run("replay", str(tmp_path / "talk.txt"), "--dry-run", "--format", given)
    assert said.status != 0
    assert f"nothing in it can be sent, read as {told}" in said.err


def test_input_that_is_not_utf_8_is_refused(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    assert "not UTF-8" in terminal.run("punctuate", str(tmp_path / "latin.txt")).err


@pytest.mark.slow
def test_input_that_is_not_utf_8_is_refused_without_traceback() -> None:
    done = subprocess.run(
        [*CAESURA, "punctuate", "--output", "jsonl"],
        cwd=ROOT,
        env=outside() | {"LC_ALL": "C", "CAESURA_WORKER_MODELS_DIR": str(one_model(ENGLISH))},
        input=b"so\ncaf\xe9",
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(b"caesura: standard input is not UTF-8 text (byte 6); if it is Windows-1252")
    assert done.stderr.count(b"\n") == 1
    assert done.stdout.count(b"\n") == 1, "the line before it was fine"


@pytest.mark.slow
def test_at_a_terminal_punctuate_prompts_and_answers_line_by_line() -> None:
    parent, child = pty.openpty()
    command = [*CAESURA, "punctuate", "--set", f"worker.models_dir={one_model(ENGLISH)}"]
    with subprocess.Popen(
        command, cwd=ROOT, env=outside(), stdin=child, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        assert b"Ctrl-D ends" in run.stderr.readline()
        os.write(parent, b"can you hear me\n")
        assert run.stdout.readline() == b"Can you hear me?\n", "before anything else is typed"
        os.write(parent, b"\4")
        assert run.wait(60) == 0
    os.close(parent)
    os.close(child)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.jsonl", "so yes\n", "line 1 is not JSON"),
        ("a.jsonl", '\n\n{"session": "a", "wrds": []}\n', "line 3 has a field that no event has; did you mean words?"),
        ("a.txt", '\n{"session": "a", "seq": "one"}\n', "line 2 is no word event"),
    ],
)
def test_a_file_that_cannot_be_replayed_is_refused_by_line_beforehand(
    terminal: Terminal, tmp_path: Path, name: str, content: str, told: str
) -> None:
    (tmp_path / name).write_text(content)
    done = terminal.run("replay", str(tmp_path / name), CAESURA_KAFKA_BOOTSTRAP_SERVERS="127.0.0.1:1")
    assert done.status == 1
    assert told in done.err


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--lang", "e n", "--lang: expected a language as BCP-47 writes it, such as en or zh-Hans (out_of_range: lang"),
        ("--prefix", "a\nb", "--prefix: expected what may begin a session's name (forbidden_character: session"),
        ("--prefix", "x" * 128, "--prefix: expected what may begin a session's name (oversized: session"),
        ("--epoch", str(2**53), "--epoch: expected a number below 2**53 (out_of_range: epoch"),
        ("--epoch", str(10**30), "--epoch: expected a number below 2**53 (out_of_range"),
    ],
)
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.json"])
def test_an_option_that_no_event_can_have_is_blamed_itself_and_no_line_is(
    terminal: Terminal, tmp_path: Path, name: str, option: str, value: str, told: str
) -> None:
    (tmp_path / name).write_text('{"text": "so"}\n' if name == "a.json" else "so\n")
    done = terminal.run("replay", str(tmp_path / name), "--dry-run", option, value)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith(f"caesura: {told}")
    assert "line" not in done.err


def test_a_word_that_is_too_long_is_sent_in_pieces(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("so\nyes " + "x" * 65 + "\n")
    done = terminal.run("replay", str(tmp_path / "a.txt"), "--dry-run")
    assert done.status == 0
    assert [word["text"] for line in done.out.splitlines() for word in json.loads(line)["words"]] == [
        "so",
        "yes",
        "x" * 64,
        "x",
    ]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.json", '[{"Word": "hi", "Offset": 1}]', "is JSON, but of no recogniser that is known here"),
        ("a.txt", '[{"Word": "hi", "Offset": 1}]', "is JSON, but of no recogniser that is known here"),
        ("a.xml", "<?xml version='1.0'?><tt>hi</tt>", "looks like TTML or other XML"),
    ],
)
def test_unrecognised_input_is_never_spoken(
    terminal: Terminal, tmp_path: Path, name: str, content: str, told: str
) -> None:
    (tmp_path / name).write_text(content)
    done = terminal.run("replay", str(tmp_path / name), CAESURA_KAFKA_BOOTSTRAP_SERVERS="127.0.0.1:1")
    assert (done.status, done.out) == (1, "")
    assert told in done.err
    assert "nothing was sent" in done.err


def test_captions_are_replayed_as_their_words_and_a_dry_run_sends_nothing(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "talk.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nSo yes.\n")
    done = terminal.run("replay", str(tmp_path / "talk.srt"), "--dry-run", "--prefix", "")
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert done.status == 0, "no broker is set, and none is asked"
    assert [word["text"] for line in lines for word in line.get("words", [])] == ["So", "yes."]
    assert done.err == "srt: 2 events, 2 words, 1 session would be sent over 2.0 s; nothing was\n"
    (tmp_path / "again.jsonl").write_text(done.out)
    again = terminal.run("replay", str(tmp_path / "again.jsonl"), "--dry-run")
    assert again.out == done.out, "what it prints can be replayed"


@pytest.mark.slow
def test_punctuate_labels_standard_input_with_the_shipped_model() -> None:
    spoken = "so um how are you today i am fine thank you\n"
    done = caesura("punctuate", "--output", "jsonl", given=spoken + "\n" + spoken)
    assert done.returncode == 0, done.stderr
    segments = [json.loads(line) for line in done.stdout.splitlines()]
    assert {segment["session"] for segment in segments} == {"line-1", "line-3"}
    first = [word for segment in segments if segment["session"] == "line-1" for word in segment["words"]]
    assert [word["text"] for word in first] == spoken.split()
    assert all({"text", "punctuation", "disfluency"} <= word.keys() for word in first)
    assert {"period", "question"} & {word["punctuation"] for word in first}
    assert segments[0]["model"]["id"]


def test_punctuate_verbatim_is_the_input_byte_for_byte(terminal: Terminal) -> None:
    spoken = "so  um\thow ARE you, today?\n\n yes \n"
    assert terminal.run("punctuate", "--output", "verbatim", given=spoken).out == spoken


def test_punctuate_writes_text_for_people(terminal: Terminal) -> None:
    done = terminal.run("punctuate", given="good morning everybody can you all hear me how are you today\n")
    assert done.out[0] == "G"
    assert done.out.rstrip()[-1] in ".?"
