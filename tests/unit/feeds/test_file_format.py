"""What a file is, is told by what stands in it; what is not read is named and never spoken."""

from __future__ import annotations

import json

import pytest

from caesura.worker.errors import FatalError
from caesura.worker.feeds.file_format import FORMATS, FileFormat, format_named, recognised_format
from caesura.worker.feeds.recognisers.catalogue import RecogniserName

_VOSK = {"text": "so yes", "result": [{"word": "so", "start": 0.1, "end": 0.2, "conf": 1}]}


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("a.txt", "so we begin\nand go on\n", "text"),
        ("README.md", "# Title\n\nSome words - and more.\n", "text"),
        ("a", "", "text"),
        ("a.txt", "[laughter] so we begin", "text"),
        ("a.txt", "we saw them in 1999 and 2004 (both)\nand again (2011)\n", "text"),
        ("a.txt", '{"session": "a", "words": "so"}\n', "jsonl"),
        ("-", '{"words": "so"}\n', "jsonl"),
        ("a.jsonl", "so\n", "jsonl"),
        ("a.txt", "1\n00:00:01,000 --> 00:00:02,000\nSo.\n", "srt"),
        ("a.txt", "\ufeff1\n00:00:01,000 --> 00:00:02,000\nSo.\n", "srt"),
        ("a.txt", "WEBVTT\n\n00:01.000 --> 00:02.000\nSo.\n", "vtt"),
        ("a.txt", ";; a comment\ntalk 1 0.10 0.20 so\ntalk 1 0.30 0.20 yes 0.98\n", "ctm"),
        ("a.json", json.dumps([_VOSK]), "vosk"),
        ("a.json", '{"id": "5551722", "status": "completed", "words": [{"text": "so", "start": 1}]}', "assemblyai"),
        ("a.json", json.dumps(_VOSK, indent=2), "vosk"),
        ("a.txt", "r 1 0.10 0.20 so NA lex NA\nr 1 0.30 0.20 yes 0.98 fp anna\n", "ctm"),
        ("a.jsonl", '{"start": 0, "end": 1, "text": " So."}\n', "whisper"),
        ("a.json", '[{"start": 0, "end": 1, "text": " So."}]', "whisper"),
        ("a.jsonl", json.dumps({"type": "Metadata"}) + "\n" + json.dumps({"mode": "online", "text": "so"}), "funasr"),
    ],
)
def test_the_format_is_told_by_the_content(name: str, content: str, found: str) -> None:
    assert recognised_format(name, content.splitlines(keepends=True)) == format_named(found)


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
        (";; the reference\nshow  1  anna  1.0  6.25 <m> hi there\nshow 1 ben 7 8.5 <m> hi", "looks like STM"),
        ("show 1 anna 0 5 <o,f0> hi", "looks like STM"),
        ("so we begin (b01-07)\nand go on (b01-08)", "looks like TRN"),
        ("RIFF\0\0WAVE", "looks like no text"),
        ("0:00:01.000,0:00:02.000\nHello there", "looks like captions as SubViewer or YouTube"),
        ("[INFORMATION]\n[TITLE]x\n00:00:01.00,00:00:02.00\nhi", "looks like SubViewer"),
        ("word,start,end\nhi,1,2", "looks like a table"),
        ('"text";"start_ms";"end_ms"\n"hi";1;2', "looks like a table"),
        ("word, start, end\nhi, 1, 2", "looks like a table"),
        ("speaker\tbegin\tduration\ttext\nA\t1\t2\thi", "looks like a table"),
        ("0.50,1.20,hi\n1.20,1.50,you", "looks like a table"),
        ('"hi there"', "is JSON, but of no recogniser"),
        ("null\n", "is JSON, but of no recogniser"),
        ("[]", "is JSON, but of no recogniser"),
        ("a: 1\nb:\n  - word: hi", "looks like YAML"),
        ("segments:\n- start: 1.5\n  text: hi there", "looks like YAML"),
        ('connected\n{"partial":"hi"}', "looks like JSON among other lines"),
        ('connected\n{\n  "partial": "hi"\n}', "looks like JSON among other lines"),
        ('ok\n[{"Word": "hi"}]', "looks like JSON among other lines"),
        ('results {\n alternatives {\n  transcript: "hi"', "looks like a message in protobuf"),
        ("result_index: 0\nresults {\n", "looks like a message in protobuf"),
        ("00:00:01\tAnna:\thi there", "looks like a transcript with times"),
        ("[0.00s -> 1.50s]  hi there", "looks like a transcript with times"),
        ("A call\n00:00:01 Anna: hi\n00:00:05 Ben: hello", "looks like a transcript with times"),
        ("so\n[00:00:01.000 --> 00:00:02.000]   hi there", "looks like"),
        ("0:01\nhi there\n0:05\nhello", "looks like a transcript with times"),
        ("Anna Berg  0:01\nhi there\n\nBen Hill  1:05\nhello", "looks like a transcript with times"),
        ("Speaker 1 (00:01):\nhi there\nSpeaker 2 (00:05):\nhello", "looks like a transcript with times"),
        ("[00:01] Anna: hi\n[00:05] Ben: hello", "looks like a transcript with times"),
        ("{0}{50}hi there", "looks like MicroDVD captions"),
        ("{DEFAULT}{y:i}\n{0}{50}hi there", "looks like MicroDVD captions"),
        ("[0][50]hi there", "looks like MPL2 captions"),
        ('<transcript><text start="0" dur="1">hi there</text></transcript>', "looks like TTML or other XML"),
        ('<EAF AUTHOR="" VERSION="3.0">\n<HEADER/>\nhi there', "looks like TTML or other XML"),
        ("<SAMI><BODY><SYNC Start=0>hi there", "looks like SAMI captions"),
        ("0:00 hi there\n0:05 hello", "looks like a transcript with times"),
        ("0.00 - 2.50: hi there\n2.50 - 4.00: hello", "looks like a transcript with times"),
        ("Anna Berg 0:01\nhi there\nBen Hill, 1:05\nhello", "looks like a transcript with times"),
        ("A [00:01]: hi there\nB [00:05]: hello", "looks like a transcript with times"),
        ("SPEAKER_00 [0.00s -> 1.50s] hi\nSPEAKER_01 [1.50s -> 2.50s] hello", "looks like a transcript with times"),
        ("2026-11-28 10:00:01 Anna: hi\n2026-11-28 10:00:05 Ben: hello", "looks like a transcript with times"),
        ('{"participant": "a", "segments": [{"said": "hi"}]}', "no word events either; it has segments as Whisper"),
        ('{"version": "1.0.0", "segments": [{"body": "hi"}]}', "is JSON, but of no recogniser"),
        ('{"text": "hi",\n"segments": [{"text": "hi"', "is JSON that is cut off"),
        ('{"vcon": "0.4.0", "parties": [], "dialog": [{"body": "hi"}]}', "is a vCon without a transcript"),
        (
            '{"done": true, "response": {"results": {"gs://hi/a": {"cloudStorageResult": {"uri": "gs://hi/b"}}}}}',
            "says where Google Cloud Storage has the transcript",
        ),
        ('{"items": [{"type": "message", "role": "user", "content": ["hi"]}]}', "is a chat"),
        ('{"role": "user", "content": "hi"}\n{"role": "assistant", "content": "hello"}', "is a chat"),
        ("（00：01）hi there\n（00：05）hello", "looks like a transcript with times"),
        ("【00:00:01】hi there\n【00:00:05】hello", "looks like a transcript with times"),
        ("0h00m01s hi there\n0h00m05s hello", "looks like a transcript with times"),
        ("(0.0, 1.5) hi there\n(1.5, 4.0) hello", "looks like a transcript with times"),
        ("[ 0.0 -> 1.5 ] hi there\n[ 1.5 -> 4.0 ] hello", "looks like a transcript with times"),
        ("start=0.0s stop=1.5s speaker_A\nstart=1.5s stop=4.0s speaker_B", "looks like a transcript with times"),
        ("0:00hi there\n0:05hello", "looks like a transcript with times"),
        ("[2026-11-28T10:00:01] hi there\n[2026-11-28T10:00:05] hello", "looks like a transcript with times"),
        ("Anna\n0 minutes 1 second\nhi there\nBen\n0 minutes 5 seconds\nhello", "looks like a transcript with times"),
        ("**Anna** _(00:01)_: hi there\n**Ben** _(00:05)_: hello", "looks like a transcript with times"),
        ("token|speaker|ts\nhi|1|\nthere|1|", "looks like a table"),
        ("1\tAnna\thi\n2\tBen\thello\n3\tAnna\tyes", "looks like a table"),
        ("1.0 2.0 A: hi there\n2.0 3.5 B: hello", "looks like a transcript with times"),
        ('{\n  "a": 1,\n  "b": hi\n}', "is not JSON: line 3 has what no value has"),
        ("[Anna Berg] 10:00:01\nhi there\n\n[Tom Hill] 10:00:05\nhello", "looks like a transcript with times"),
        ("Anna Berg 10:00:01\nhi there\n\nTom Hill 10:00:05\nhello", "looks like a transcript with times"),
        ("hi there,0.10,0.94\nhello,1.00,1.50\n", "looks like a table"),
        ("a 1 a 0 1 hi there\nb 1 b 0 2 <> hi\nb 1 b 2 3 <> hello", "looks like STM"),
        ('data: {"text": "hi"}\n\ndata: [DONE]', "looks like server-sent events"),
        ('event: message\ndata: {"text": "hi"}', "looks like server-sent events"),
        ("Speaker 0    00:00    hi\nSpeaker 1    00:05    hello", "looks like a transcript with times"),
        ("Anna: (00:01) hi\nTom: (00:05) hello", "looks like a transcript with times"),
        ("A: hi. #00:00:05-3#\nB: hello. #00:00:09-1#", "looks like a transcript with times, as f4"),
        ("@UTF8\n@Begin\n*CHI: hi", "looks like a CHAT transcript"),
        ("Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,hi", "looks like SubStation Alpha"),
        ("00:00:01:00 00:00:02:12 hi", "looks like captions whose times are frames"),
    ],
)
def test_unread_messages_are_refused_by_name_and_not_quoted(content: str, told: str) -> None:
    with pytest.raises(FatalError, match=told) as refused:
        recognised_format("talk.txt", content.splitlines(keepends=True))
    assert "talk.txt" in str(refused.value)
    assert "nothing was sent" in str(refused.value)
    assert "hi" not in str(refused.value).replace("nothing", "").replace("which", "").replace("whisper", "").split()


@pytest.mark.parametrize(
    "prose",
    [
        "a: one thing\nb: another",
        "Anna: hi there\nBen: good morning",
        "Present:\n  - Anna: chair\n  - Ben: notes\n",
        "to do:\n  - call Ben\n  - write the text",
        "agenda:\n- words of welcome\n- results",
        "10:30\tOpening\n11:00\tCoffee",
        "at 10:30 we opened\nat 11:00 we had coffee",
        "Acts 2:38 says so\nJohn 3:16 too",
        "at 1:30, 2:30 and 3:30 we met",
        "2.5 - 3.5 is the range\nand not 4.5",
        "the meeting began at 10:30\nit ended at 11:30",
        "go from a --> b\n10 -> 20 is ten",
        "1.\tOpening\n2.\tCoffee",
        "start, end, and start again",
        "the start, the end\nwell, 1, 2",
        "1,2,3 go",
        "data: that is what we lack\ndata: [more] of it",
        '"To be or not to be," he said.',
        '"Good morning."\n"Good morning, Ben."',
        "[1]\n[2] a note",
        "[1-3] say so\n[1 - 3] too",
        'so he wrote ["sic"] there\n["sic"]',
        "and then\n[laughter]\n{coughs}",
        "{}\nso {this} is fine {",
        "42",
        "true",
        "void main() {\n}",
        "# nginx\n\nserver {\n",
        "text: what is meant\nend: here",
        "[information] we begin",
    ],
)
def test_ordinary_text_stays_text(prose: str) -> None:
    if not prose.startswith(("[1", "{}")):  # these begin as JSON does, and were refused all along
        assert recognised_format("talk.txt", prose.splitlines(keepends=True)) is FileFormat.TEXT
    assert recognised_format("talk.txt", ["so\n", *prose.splitlines(keepends=True)]) is FileFormat.TEXT


@pytest.mark.parametrize("value", ["9" * 5000, "[" * 100_000])
def test_json_that_is_not_held_is_neither_a_crash_nor_text(value: str) -> None:
    assert recognised_format("a.txt", [f'{{"session": {value}}}\n']) is FileFormat.JSONL
    with pytest.raises(FatalError, match="looks like JSON among other lines"):
        recognised_format("a.txt", ["so\n", f'{{"session": {value}}}\n'])


def test_every_recogniser_is_a_format() -> None:
    assert set(RecogniserName) <= set(FORMATS)
    assert [format_named(one.value) for one in FORMATS] == list(FORMATS)
