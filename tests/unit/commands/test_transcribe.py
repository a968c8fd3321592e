"""``caesura transcribe``: any recording to a transcript in this process; what is none is named."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from threading import Thread
from uuid import RFC_4122, UUID

import pytest

from tests.harness.command import CAESURA, outside
from tests.harness.places import ROOT
from tests.harness.shipped_models import ENGLISH, one_model
from tests.harness.terminal import MOVES, Terminal

CALL = """WEBVTT

00:00:01.000 --> 00:00:03.400
<v Mona>so um could you tell me when the parcel will arrive

00:00:03.900 --> 00:00:05.000
<v Ilya>it comes on friday

00:00:09.000 --> 00:00:11.000
<v Mona>fine then i will be at home
"""


def bare(text: str) -> str:
    """Return the words as they were spoken, without marks and capitals."""
    return " ".join(re.findall(r"[a-z']+", text.lower()))


@pytest.fixture
def call(tmp_path: Path) -> str:
    (tmp_path / "call.vtt").write_text(CALL, encoding="utf-8")
    return str(tmp_path / "call.vtt")


def test_speakers_stand_side_by_side_in_order_of_time_with_names_and_times(terminal: Terminal, call: str) -> None:
    done = terminal.run("transcribe", call)
    assert done.status == 0
    assert [(line[:16], bare(line[16:])) for line in done.out.split("\n\n")] == [
        ("[00:00:01] Mona:", "so could you tell me when the parcel will arrive"),
        ("[00:00:03] Ilya:", "it comes on friday"),
        ("[00:00:09] Mona:", "fine then i will be at home"),
    ]
    assert done.err == f"{call}: vtt, 5 events, 22 words, 2 sessions\n"


def test_every_word_stands_in_marked_and_in_json_lines(terminal: Terminal, call: str) -> None:
    assert "{um}" in terminal.run("transcribe", call, "--output", "marked", "--no-times").out
    segments = [json.loads(line) for line in terminal.run("transcribe", call, "--output", "jsonl").out.splitlines()]
    assert " ".join(word["text"] for segment in segments for word in segment["words"]) == (
        "so um could you tell me when the parcel will arrive it comes on friday fine then i will be at home"
    )
    assert {segment["conversation"] for segment in segments} == {"call"}
    assert sorted({segment["speaker"] for segment in segments}) == ["Ilya", "Mona"]


def test_numbers_are_written_as_they_were_said_or_with_digits(terminal: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "said.txt"
    file.write_text("we paid twenty two dollars for the coffee on august fourth\n", encoding="utf-8")
    assert "twenty two dollars" in terminal.run("transcribe", str(file)).out
    done = terminal.run("transcribe", str(file), "--numbers", "digits", "--set", "worker.spellings=coffee=KOFFEE")
    assert "We paid $22 for the KOFFEE on August 4" in done.out


def test_captions_name_their_speakers(terminal: Terminal, call: str) -> None:
    vtt = terminal.run("transcribe", call, "--output", "vtt").out
    assert vtt.startswith("WEBVTT\n\n1\n00:00:01.000 --> ")
    assert "<v Ilya>It comes" in vtt
    srt = terminal.run("transcribe", call, "--output", "srt", "--columns", "20").out
    assert "Ilya: It comes" in srt
    assert max(map(len, srt.splitlines())) <= len("00:00:01,000 --> 00:00:02,000")


def test_a_transcript_as_captions_is_read_as_the_same_transcript(terminal: Terminal, call: str, tmp_path: Path) -> None:
    (tmp_path / "again.vtt").write_text(terminal.run("transcribe", call, "--output", "vtt").out, encoding="utf-8")
    names = [line.split("] ")[1].split(":")[0] for line in terminal.run("transcribe", call).out.split("\n\n")]
    again = terminal.run("transcribe", str(tmp_path / "again.vtt")).out.split("\n\n")
    assert [line.split("] ")[1].split(":")[0] for line in again] == names


def test_the_lines_of_a_text_are_paragraphs_in_their_order(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text("yes that is right\nthen we can go home\n", encoding="utf-8")
    done = terminal.run("transcribe", str(tmp_path / "talk.txt"))
    assert [bare(line) for line in done.out.split("\n\n")] == ["yes that is right", "then we can go home"]
    refused = terminal.run("transcribe", str(tmp_path / "talk.txt"), "--output", "srt")
    assert refused.status == 1
    assert "has no times of words" in refused.err


def test_each_of_several_files_has_a_transcript_and_one_that_is_none_is_named(
    terminal: Terminal, call: str, tmp_path: Path
) -> None:
    (tmp_path / "broken.json").write_text('{"nothing": "known"}', encoding="utf-8")
    (tmp_path / "made").mkdir()
    into = ("--output", "vtt", "--into", str(tmp_path / "made"))
    done = terminal.run("transcribe", call, str(tmp_path / "broken.json"), *into)
    assert done.status == 1
    assert f"caesura: {tmp_path}/broken.json is JSON, but of no recogniser" in done.err
    assert (tmp_path / "made" / "call.vtt").read_text(encoding="utf-8").startswith("WEBVTT")
    assert [file.name for file in (tmp_path / "made").iterdir()] == ["call.vtt"]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        pytest.param(("--output", "srt"), "srt of 2 files go into 2 files", id="captions of two files"),
        pytest.param(("--into", "no-such-folder"), "there is no such folder", id="no folder"),
        pytest.param(("--into", "HERE", "--output", "vtt"), "would replace it", id="the recording itself"),
    ],
)
def test_an_unwritable_transcript_is_reported_before_reading(
    terminal: Terminal, call: str, more: tuple[str, ...], told: str
) -> None:
    options = [os.path.dirname(call) if one == "HERE" else one for one in more]  # noqa: PTH120
    done = terminal.run("transcribe", call, call, *options)
    assert (done.status, done.out) == (1, "")
    assert told in done.err


def test_a_file_that_cannot_be_read_has_no_heading(terminal: Terminal, call: str) -> None:
    done = terminal.run("transcribe", "no-such.srt", call)
    assert done.status == 1
    assert "no-such.srt" not in done.out
    assert call in done.out


def test_a_call_is_written_as_contact_lens_writes_it(terminal: Terminal, call: str) -> None:
    written = json.loads(terminal.run("transcribe", call, "--output", "contact-lens").out)
    assert [one["ParticipantId"] for one in written["Participants"]] == ["Mona", "Ilya"]
    said = [(turn["ParticipantId"], turn["BeginOffsetMillis"]) for turn in written["Transcript"]]
    assert said[0] == ("Mona", 1000)
    assert said == sorted(said, key=lambda one: one[1])
    numbers = written["ConversationCharacteristics"]
    assert numbers["TotalConversationDurationMillis"] == 10_000
    talk = numbers["TalkTime"]["DetailsByParticipant"]
    assert talk == {"Mona": {"TotalTimeMillis": 4_400}, "Ilya": {"TotalTimeMillis": 1_100}}
    assert numbers["NonTalkTime"]["TotalTimeMillis"] == 4_500
    assert numbers["Interruptions"]["TotalCount"] == 0


def test_roles_of_a_call_are_kept_where_its_speakers_are_called_so(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "a.vtt").write_text(
        "WEBVTT\n\n00:01.000 --> 00:02.000\nAgent: good day\n\n00:02.000 --> 00:03.000\nCustomer: yes\n",
        encoding="utf-8",
    )
    written = terminal.run("transcribe", str(tmp_path / "a.vtt"), "--output", "contact-lens").out
    (tmp_path / "a.json").write_text(written, encoding="utf-8")
    again = terminal.run("transcribe", str(tmp_path / "a.json"), "--output", "contact-lens").out
    for one in (written, again):
        roles = [(who["ParticipantId"], who["ParticipantRole"]) for who in json.loads(one)["Participants"]]
        assert roles == [("AGENT", "AGENT"), ("CUSTOMER", "CUSTOMER")]


def test_a_call_as_a_vcon_is_read_as_the_same_call(terminal: Terminal, call: str, tmp_path: Path) -> None:
    into = ("--output", "vcon", "--into", str(tmp_path))
    assert terminal.run("transcribe", call, *into).status == 0
    written = json.loads((tmp_path / "call.vcon.json").read_text(encoding="utf-8"))
    assert written["parties"] == [{"name": "Mona"}, {"name": "Ilya"}]
    assert UUID(written["uuid"]).version == 8
    assert UUID(written["uuid"]).variant == RFC_4122
    (analysis,) = written["analysis"]
    assert (analysis["type"], analysis["encoding"]) == ("wtf_transcription", "json")
    assert analysis["body"]["segments"][1]["speaker"] == "Ilya"
    assert analysis["body"]["words"][0]["start"] == 1.0
    again = terminal.run("transcribe", str(tmp_path / "call.vcon.json"), "--output", "marked")
    assert bare(again.out) == bare(terminal.run("transcribe", call, "--output", "marked").out)
    assert "whisper, " in again.err


def test_events_that_a_session_refuses_are_counted_and_the_status_says_so(terminal: Terminal, tmp_path: Path) -> None:
    lines = [{"session": "a", "words": ["good", "evening"], "session_end": True}, {"session": "a", "words": ["late"]}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    done = terminal.run("transcribe", str(tmp_path / "a.jsonl"))
    assert done.status == 1
    assert bare(done.out) == "good evening"
    assert "1 event refused: session_ended" in done.err


@pytest.mark.slow
def test_a_stream_is_written_while_it_comes() -> None:
    with subprocess.Popen(
        [*CAESURA, "transcribe", "-", "--no-times", "--set", f"worker.models_dir={one_model(ENGLISH)}"],
        cwd=ROOT,
        env=outside(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as run:
        assert run.stdin is not None
        assert run.stdout is not None
        for begin_s, text in ((0, "this is the first thing to say"), (60, "and much later comes another thing")):
            for number, word in enumerate(text.split()):
                at_ms = begin_s * 1000 + number * 300
                line = {"session": "a", "words": [{"text": word, "start_ms": at_ms, "end_ms": at_ms + 250}]}
                run.stdin.write(json.dumps(line) + "\n")
            run.stdin.write(json.dumps({"session": "a", "utterance_end": True}) + "\n")
        run.stdin.flush()
        assert bare(run.stdout.readline()) == "this is the first thing to say", "before its input has ended"
        run.stdin.close()
        assert "another thing" in run.stdout.read()
        assert run.wait(60) == 0


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.vtt", CALL, "is VTT, not text"),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\ngood day\n", "is SRT, not text"),
        ("a.json", '{"text": "good day", "result": []}', "is JSON (vosk), not text"),
        ("a.json", '{"nothing": "known"}', "is JSON, not text"),
    ],
)
def test_punctuate_refuses_what_is_no_text_and_names_this_command(
    terminal: Terminal, tmp_path: Path, name: str, content: str, told: str
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    done = terminal.run("punctuate", str(tmp_path / name))
    assert (done.status, done.out) == (1, "")
    assert told in done.err
    assert "`caesura transcribe` makes a transcript of it" in done.err


def test_a_line_break_in_a_files_name_makes_no_line(terminal: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "a\nb\x1b[2J.vtt"
    file.write_text("WEBVTT\n\n00:00.000 --> 00:01.000\nhello there\n")
    done = terminal.run("transcribe", str(file), str(file))
    assert (done.status, done.out.count("Hello there.")) == (0, 2)
    assert [line for line in (done.out + done.err).splitlines() if line.startswith("b")] == []
    assert r"a\u000ab\u001b[2J.vtt: vtt" in done.err
    assert r"a\u000ab\u001b[2J.vtt is VTT" in terminal.run("punctuate", str(file)).err


ESCAPES = "so\x1b]0;owned\x07 we\x9b31m go\u202e on\x1b[2J"
FILES = {
    "hostile.txt": f"{ESCAPES}\n".encode() * 3,
    "hostile.vtt": f"WEBVTT\n\n00:01.000 --> 00:02.000\n<v {ESCAPES}>{ESCAPES}\n".encode(),
    "hostile.jsonl": json.dumps({"session": ESCAPES, "speaker": ESCAPES, "words": "so be it"}).encode() + b"\n",
    "nothing.txt": b"",
    "zeros.txt": b"\x00" * 10_000,
    "noise.json": bytes(range(256)) * 40,
    "deep.json": b"[" * 200_000,
    "twice.jsonl": b'{"words": "a", "words": "b"}\n',
    "huge number.json": b'{"start": ' + b"9" * 100_000 + b"}",
}


@pytest.mark.parametrize(
    ("command", "names", "piped"),
    [("transcribe", list(FILES), False), ("transcribe", list(FILES), True), ("punctuate", ["hostile.txt"], True)],
)
def test_hostile_files_and_pipes_move_no_terminal_and_make_no_traceback(
    terminal: Terminal, tmp_path: Path, command: str, names: list[str], piped: bool
) -> None:
    files = [tmp_path / name for name in names]
    writers = [Thread(target=file.write_bytes, args=(FILES[file.name],), daemon=True) for file in files]
    for file, writer in zip(files, writers, strict=True):
        if piped:
            os.mkfifo(file)
        writer.start()
        if not piped:
            writer.join()
    done = terminal.run(command, *map(str, files))
    assert done.status in (0, 1)
    assert not MOVES.search(done.out + done.err)
    assert "Traceback" not in done.err
    for writer in writers:
        writer.join(10)
        assert not writer.is_alive(), "a pipe is read, or let go"
