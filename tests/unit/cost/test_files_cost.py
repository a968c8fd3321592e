"""Reading a file takes time by its length, however hostile its lines are; no pattern takes the square of a line."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest

from caesura.worker.errors import FatalError
from caesura.worker.feeds.file_format import FileFormat, SpeechFormat, recognised_format
from caesura.worker.feeds.recognisers.catalogue import RecogniserName
from caesura.worker.feeds.recorded_speech import RecordedSpeech
from caesura.worker.feeds.timed_events import Pace
from tests.harness.cost import LINEAR_AT_MOST, growth

Make = Callable[[int], list[str]]


def line(head: str, piece: str, tail: str = "") -> Make:
    return lambda size: [head + piece * (size // len(piece)) + tail + "\n"]


def lines(*head: str, of: str) -> Make:
    return lambda size: [*head, *([of] * (size // len(of)))]


HEADS: dict[str, Make] = {
    "digits": line("", "1"),
    "digits and colons": line("", "1:"),
    "blanks": line("a", " ", "x"),
    "blanks before a brace": line("a", " ", "{x"),
    "a key and blanks": line("a:", " ", "\\"),
    "brackets": line("", "["),
    "brackets on lines": lines(of="[\n"),
    "braces on lines": lines(of="{\n"),
    "arrows": line("1:1.1 ", "-->"),
    "commas": line("start,", "end,"),
    "quotes": line("[", '\\"'),
    "data": lines(of="data: {\n"),
    "labels": lines(of="Anna: so\n"),
}
FILES: dict[str, tuple[SpeechFormat, Make]] = {
    "closing lines of an array": (RecogniserName.DEEPGRAM, lines("[\n", of="]]\n")),
    "closing lines of an object": (RecogniserName.VOSK, lines('{"text":[\n', of="}x}\n")),
    "an array that is not ended": (RecogniserName.VOSK, lines("[\n", of='{"text":"a"},\n')),
    "objects at the margin of an array": (RecogniserName.VOSK, lines("[\n", of='{\n"text":"a"\n},\n')),
    "quotes that are not ended": (RecogniserName.VOSK, line('{"text":"', '\\"')),
    "JSON lines with unknown fields": (FileFormat.JSONL, line('{"wrods', "wrods", '":0}')),
    "voices": (FileFormat.VTT, lambda size: ["WEBVTT\n", "\n", "00:01.000 --> 00:02.000\n", "<v" + " " * size + "\n"]),
    "voices in a row": (FileFormat.VTT, lambda size: ["WEBVTT\n\n", "00:01.000 --> 00:02.000\n", "<v " * (size // 3)]),
    "tags": (FileFormat.SRT, lambda size: ["1\n", "00:00:01,000 --> 00:00:02,000\n", "<i" * (size // 2) + "\n"]),
    "entities": (FileFormat.SRT, lambda size: ["1\n", "00:00:01,000 --> 00:00:02,000\n", "&amp" * (size // 4) + "\n"]),
    "a number that is no character": (
        FileFormat.SRT,
        lambda size: ["1\n", "00:00:01,000 --> 00:00:02,000\n", "&#" + "9" * size + ";\n"],
    ),
    "times": (FileFormat.SRT, lambda size: ["1\n", "0" * size + ":00:01,000 --> 00:00:02,000\n", "a\n"]),
    "lines of a cue": (FileFormat.SRT, lines("1\n", "00:00:01,000 --> 00:00:02,000\n", of="so\n")),
    "lines of a cue that rolls up": (
        FileFormat.VTT,
        lines("WEBVTT\n", "\n", "00:01.000 --> 00:02.000\n", "<00:01.500>a\n", of="so\n"),
    ),
    "brackets": (FileFormat.SRT, lambda size: ["1\n", "00:00:01,000 --> 00:00:02,000\n", "[" * size + "\n"]),
    "CTM": (FileFormat.CTM, lines(of="a 1 0.1 0.2 so\n")),
    "text": (FileFormat.TEXT, line("", "so ")),
}


@pytest.mark.parametrize("hostile", HEADS)
def test_telling_what_a_file_is_takes_time_by_its_length(hostile: str) -> None:
    def read(head: list[str]) -> None:
        with contextlib.suppress(FatalError):
            recognised_format("a.txt", head)

    assert growth(HEADS[hostile], read) <= LINEAR_AT_MOST


@pytest.mark.parametrize("hostile", FILES)
def test_reading_a_file_takes_time_by_its_length(hostile: str) -> None:
    known, make = FILES[hostile]

    def read(given: list[str]) -> None:
        speech = RecordedSpeech(name="a", lang="en", epoch=0, pace=Pace())
        with contextlib.suppress(FatalError):
            for _ in speech.events(iter(given), known):
                pass

    assert growth(make, read, 32_000) <= LINEAR_AT_MOST
