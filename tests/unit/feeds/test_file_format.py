"""What a file is, is told by what stands in it; what is not read is named and never spoken."""

from __future__ import annotations

import json

import pytest

from worker.errors import FatalError
from worker.feeds.file_format import FileFormat, recognised_format
from worker.feeds.recognisers.catalogue import RecogniserName

_VOSK = {"text": "so yes", "result": [{"word": "so", "start": 0.1, "end": 0.2, "conf": 1}]}


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("a.txt", "so we begin\nand go on\n", "text"),
        ("README.md", "# Title\n\nSome words - and more.\n", "text"),
        ("a", "", "text"),
        ("a.txt", "[laughter] so we begin", "text"),
        ("a.txt", '{"session": "a", "words": "so"}\n', "jsonl"),
        ("-", '{"words": "so"}\n', "jsonl"),
        ("a.jsonl", "so\n", "jsonl"),
        ("a.txt", "1\n00:00:01,000 --> 00:00:02,000\nSo.\n", "srt"),
        ("a.txt", "\ufeff1\n00:00:01,000 --> 00:00:02,000\nSo.\n", "srt"),
        ("a.txt", "WEBVTT\n\n00:01.000 --> 00:02.000\nSo.\n", "vtt"),
        ("a.txt", ";; a comment\ntalk 1 0.10 0.20 so\ntalk 1 0.30 0.20 yes 0.98\n", "ctm"),
        ("a.json", json.dumps([_VOSK]), "vosk"),
        ("a.json", json.dumps(_VOSK, indent=2), "vosk"),
        ("a.jsonl", json.dumps({"type": "Metadata"}) + "\n" + json.dumps({"mode": "online", "text": "so"}), "funasr"),
    ],
)
def test_the_format_is_told_by_the_content(name: str, content: str, found: str) -> None:
    assert recognised_format(name, content.splitlines(keepends=True)) == FileFormat(found)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('[{"Word": "hi", "From": 1}]', "is JSON, but of no recogniser"),
        ('{"Word": "hi"}\n', "is JSON, but of no recogniser"),
        ('[{"Word": "hi", ', "is JSON, but of no recogniser"),
        ("[1, 2, 3]", "is JSON, but of no recogniser"),
        ('["hi", "there"]', "is JSON, but of no recogniser"),
        ('[{"session": "a", "words": "so"}]', "is JSON, but of no recogniser"),
        ('<?xml version="1.0"?>\n<tt/>', "looks like TTML or other XML"),
        ("[Script Info]\nTitle: x", "looks like SubStation Alpha"),
        ("1\n1s --> 2s\nhi", "looks like captions whose times"),
        ("[00:12.00]hi", r"looks like lyrics \(LRC\)"),
        ("start\tend\ttext\n0\t1\thi", "looks like a table"),
        ("0.0\t1.0\thi", "looks like a table"),
        ("a 1 b 0.00 1.00 <o,f0> hi", "looks like STM"),
        ("RIFF\0\0WAVE", "looks like no text"),
    ],
)
def test_what_is_not_read_is_refused_by_name_and_not_quoted(content: str, told: str) -> None:
    with pytest.raises(FatalError, match=told) as refused:
        recognised_format("talk.txt", content.splitlines(keepends=True))
    assert "talk.txt" in str(refused.value)
    assert "nothing was sent" in str(refused.value)
    assert "hi" not in str(refused.value).replace("nothing", "").replace("which", "").replace("whisper", "").split()


def test_every_recogniser_is_a_format() -> None:
    assert {name.value for name in RecogniserName} <= {one.value for one in FileFormat}
