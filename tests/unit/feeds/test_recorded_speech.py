"""Captions, CTM and recognisers' files as timed word events."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.errors import FatalError
from caesura.worker.feeds.file_format import LOOKED_AT_LINES, FileFormat, SpeechFormat
from caesura.worker.feeds.formats.text import SpokenLines
from caesura.worker.feeds.hypothesis import UnreadableMessageError
from caesura.worker.feeds.lines import read_lines, readable_lines
from caesura.worker.feeds.messages import json_messages
from caesura.worker.feeds.recognisers.catalogue import RecogniserName
from caesura.worker.feeds.recorded_speech import RecordedSpeech
from caesura.worker.feeds.timed_events import Pace, TimedEvent


def read(content: str, name: str = "talk.txt", given: SpeechFormat = FileFormat.AUTO) -> list[TimedEvent]:
    speech = RecordedSpeech(name=name, lang="en", epoch=7, pace=Pace())
    found, lines = speech.format_of(iter(content.splitlines(keepends=True)), given)
    return list(speech.events(lines, found))


def said(events: list[TimedEvent]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for one in events:
        found.setdefault(one.event.session, []).extend(word.text for word in one.event.words)
    return {session: " ".join(words) for session, words in found.items()}


SRT = """\
1
00:00:01,000 --> 00:00:03,000
<i>Good morning,</i>
- everybody &amp; all.

2
00:00:04,500 --> 00:00:06,000 X1:40
ANNA: I see. [applause]

3
00:00:07,000 --> 00:00:08,000
♪ la la ♪
"""


def test_srt_is_its_words_and_nothing_else() -> None:
    events = read(SRT)
    assert said(events) == {"talk-7": "Good morning, everybody all. I see."}
    assert [one.at_ms for one in events][:2] == [3000, 6000]
    first = events[0].event
    assert (first.words[0].start_ms, first.words[-1].end_ms, first.heard_until_ms) == (1000, 3000, 3000)
    assert first.attributes == {"word_ends": "guessed"}
    assert events[-1].event.session_end


VTT = """\
WEBVTT - a title --> not a time

STYLE
::cue { color: red }

NOTE not spoken

opening
00:01.000 --> 00:03.000 line:0 align:start
<v.loud Anna Smith>Good morning.</v>

00:00:04.000 --> 00:00:05.000
<v Ben>Hello <b>there</b>!
"""


def test_vtt_has_a_session_a_voice() -> None:
    assert said(read(VTT)) == {"talk-7/Anna Smith": "Good morning.", "talk-7/Ben": "Hello there!"}


ROLLING = """\
WEBVTT

00:00:00.000 --> 00:00:02.000
so<00:00:00.500><c> we</c><00:00:01.000><c> no</c>

00:00:02.000 --> 00:00:02.010
so we no

00:00:02.010 --> 00:00:04.000
so we no
no<00:00:03.000><c> go</c>
"""


def test_captions_that_roll_up_are_said_once_and_a_real_repeat_stays() -> None:
    events = read(ROLLING)
    assert said(events) == {"talk-7": "so we no no go"}
    starts = [word.start_ms for one in events for word in one.event.words]
    assert starts == [0, 500, 1000, 2010, 3000]


CTM = """\
;; file channel start duration word confidence
talk A 0.10 0.20 so 0.9
talk B 0.20 0.10 yes
talk A * * <ALT_BEGIN>
talk A 0.40 0.20 um
talk A * * <ALT>
talk A 0.40 0.20 uh
talk A * * <ALT_END>
talk A 0.60 0.10 <noise>
talk A 0.70 0.10 [noise]
talk A 0.80 0.10 (door
talk A 0.90 0.10 slams)
talk A 1.00 0.10 [uh]
talk A 1.10 0.10 SIL
talk A 1.20 0.10 <eps>
talk A 1.30 0.10 {um}
talk A 1.40 0.10 {breath}
talk A * * <ALT_BEGIN>
talk A 1.50 0.10 (huh)
talk A * * <ALT>
talk A 1.50 0.10 her
talk A * * <ALT_END>
"""


def test_ctm_has_a_session_a_channel_and_exact_times() -> None:
    events = read(CTM)
    assert said(events) == {"talk-7/talk/A": "so um uh um huh", "talk-7/talk/B": "yes"}
    word = events[0].event.words[0]
    assert (word.start_ms, word.end_ms, word.confidence) == (100, 300, 0.9)
    assert events[0].event.attributes is None


@pytest.mark.parametrize("given", [FileFormat.CTM, FileFormat.AUTO])
def test_a_wrong_line_of_ctm_is_named(given: FileFormat) -> None:
    with pytest.raises(FatalError, match="line 2 is none of CTM"):
        read("talk A 0.1 0.2 so\nhello there\ntalk A 0.3 0.2 we\n", given=given)


def test_a_recognisers_file_is_sent_at_the_pace_of_its_words() -> None:
    word = {"word": "so", "start": 0.5, "end": 0.9, "conf": 1.0}
    lines = [{"partial": "so"}, {"result": [word], "text": "so"}, {"partial": "yes"}, {"text": "yes"}]
    events = read("\n".join(map(json.dumps, lines)), name="dir/vosk.json")
    assert said(events) == {"vosk-7": "so yes"}
    assert [one.at_ms for one in events] == [900, 1275, 1275]


@given(
    objects=st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=5), max_size=3), max_size=5),
    indent=st.sampled_from([None, 0, 2]),
    array=st.booleans(),
)
def test_messages_come_out_however_they_are_written_down(
    objects: list[dict[str, str]], indent: int | None, *, array: bool
) -> None:
    text = json.dumps(objects, indent=indent) if array else "\n".join(json.dumps(one, indent=indent) for one in objects)
    assert list(json_messages(text.splitlines(keepends=True))) == objects


def test_a_message_is_there_as_soon_as_its_line_is() -> None:
    lines = iter(['{"a": 1}\n', "Done!\n", '{"b": 2}\n'])
    messages = json_messages(lines, passed_over=frozenset({"Done!"}))
    assert next(messages) == {"a": 1}
    assert next(lines) == "Done!\n"


@pytest.mark.parametrize("text", ['{"a": ', "words", "[1]", '{"a": 1}\nwords\n'])
def test_an_invalid_message_is_named_by_its_line(text: str) -> None:
    with pytest.raises(UnreadableMessageError, match=r"line [12]: expected JSON"):
        list(json_messages(text.splitlines(keepends=True)))


def test_a_word_too_long_for_an_event_is_cut_without_loss() -> None:
    events = read(json.dumps({"text": "x" * 130 + " so"}), name="a.json")
    assert [len(word.text) for one in events for word in one.event.words] == [64, 64, 2, 2]


def test_a_message_far_down_in_a_text_is_refused_and_never_spoken() -> None:
    with pytest.raises(FatalError, match=r"talk.txt line 501 looks like JSON among other lines") as refused:
        read("so we begin\n" * 500 + '{"partial": "secret"}\n')
    assert "secret" not in str(refused.value)


def test_on_standard_input_the_first_line_is_spoken_at_once() -> None:
    speech = RecordedSpeech(name="-", lang="en", epoch=7, pace=Pace(sessions_at_once=1))
    left = iter(["connected\n", '{"partial": "secret"}\n'])
    found, lines = speech.format_of(left, FileFormat.AUTO)
    assert next(lines) == "connected\n"
    with pytest.raises(FatalError, match="standard input line 2 looks like JSON"):
        list(speech.events(lines, found))


@pytest.mark.parametrize("text", ['"to be"\n"or not"\n', "so\n", '"to be," he said\n'])
def test_quotes_on_standard_input_are_text_where_more_than_one_value_comes(text: str) -> None:
    assert said(read(text, name="-")) == {
        f"stdin-7-{number}": line for number, line in enumerate(text.splitlines(), start=1)
    }


def test_one_value_alone_on_standard_input_is_refused() -> None:
    with pytest.raises(FatalError, match="standard input is JSON"):
        read('"hi there"\n', name="-")


@pytest.mark.parametrize("name", ["a.json", "-"])
def test_a_value_over_many_lines_is_recognised_wherever_its_signs_stand(name: str) -> None:
    words = [{"word": "so", "start": at, "end": at + 0.5, "conf": 1} for at in range(200)]
    assert said(read(json.dumps({"result": words, "text": "so"}, indent=1), name=name)) == {
        f"{'a' if name != '-' else 'stdin'}-7": " ".join(["so"] * 200)
    }


def test_a_wrong_recognisers_name_is_said_with_the_right_one() -> None:
    told = "talk.txt: no words, and no message has the format of deepgram: they look like vosk"
    with pytest.raises(FatalError, match=told):
        read('{"text": "hello there"}\n', given=RecogniserName.DEEPGRAM)
    with pytest.raises(FatalError, match="or of another known recogniser"):
        read('{"said": "hello there"}\n', given=RecogniserName.DEEPGRAM)


@pytest.mark.parametrize("silence", ['{"text": ""}\n{"partial": ""}\n', '{"secret": 1}\n{"text": ""}\n', "", "[]"])
def test_a_recording_in_which_nothing_is_said_is_not_doubted(silence: str) -> None:
    assert read(silence, given=RecogniserName.VOSK) == []


def test_silence_in_a_form_that_several_share_is_not_doubted() -> None:
    assert read('{"text": ""}\n', given=RecogniserName.WHISPER) == []


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.jsonl", '{"words": "so"}\n{"words": 3}\n', "a.jsonl: line 2 is no word event: wrong_type: words"),
        ("a.jsonl", '{"at_ms": ' + "1" * 400 + "}", "a.jsonl: line 1 is no word event: at_ms: expected a whole number"),
        ("a.jsonl", '{"a":' * 100_000, "a.jsonl: line 1: expected JSON, not nested too deep"),
        ("a.json", '{"text": "so"}\n\n{"text": 3}\n', "a.json: line 3: text: expected text"),
        (
            "a.json",
            '{"text": "so"}\n{"a":' + "9" * 5000 + "}",
            "a.json: line 2: expected JSON, not a number of too many",
        ),
        ("a.json", '{"text": "so"}\n' + '{"a":' * 100_000, "a.json: line 2: expected JSON, not nested too deep"),
        ("a.ctm", "talk A 0.1 0.2 so\nso\n", "a.ctm: line 2 is none of CTM"),
        ("-", '{"text": "so"}\n{"text": 3}\n', "standard input: line 2: text: expected text"),
        ("a.json", '{"text": "so"}\n{"text": "se', "a.json: line 2: expected JSON, and the value that begins there is"),
        ("a.jsonl", '{"words": "so"}\n{"words": ["se', "a.jsonl: line 2 is not JSON (column"),
    ],
)
def test_unreadable_input_is_reported_with_file_and_line(name: str, content: str, told: str) -> None:
    with pytest.raises(FatalError) as refused:
        read(content, name=name)
    assert str(refused.value).startswith(told)


def test_a_line_that_is_not_utf_8_is_told_and_so_is_the_value_that_it_stands_in() -> None:
    told: list[UnreadableMessageError] = []
    lines = ['{"a": 1}\n', None, "{\n", '"b": 1,\n', None, '"c": 2\n', "}\n", '{"d": 3}\n']
    assert list(json_messages(lines, broken=told.append)) == [{"a": 1}, {"d": 3}]
    assert [str(one) for one in told][:2] == ["line 2: expected UTF-8", "line 5: expected UTF-8"]


def test_json_that_is_not_held_is_told_as_soon_as_its_line_is_there() -> None:
    told: list[UnreadableMessageError] = []
    lines = iter(['{"a":' + "9" * 5000 + "}\n", '{"b": 1}\n', '{"c": 1}\n'])
    assert next(json_messages(lines, broken=told.append)) == {"b": 1}
    assert [str(one) for one in told] == ["line 1: expected JSON, not a number of too many digits, or NaN"]
    assert len(list(lines)) == 1


def test_half_a_character_is_named_and_not_quoted() -> None:
    with pytest.raises(FatalError, match="got half a character") as refused:
        read('{"text": "so \\ud83d yes"}\n', "vosk.json")
    assert "ud83d" not in str(refused.value)


def test_labels_in_a_text_name_its_sessions_and_are_not_spoken() -> None:
    text = "Agent: good morning\nso we begin\nCustomer: hi\nAt noon: lunch\nAgent:\nfine\n"
    assert said(read(text)) == {
        "talk-7-1/Agent": "good morning",
        "talk-7-2/Agent": "so we begin",
        "talk-7-3/Customer": "hi",
        "talk-7-4/Customer": "At noon: lunch",
        "talk-7-6/Agent": "fine",
    }


@pytest.mark.parametrize("form", ["{0}. {1}: {2}", "({0}) {1}: {2}", "{1} – {2}", "{1}—{2}", "{1} -- {2}", "{1}\t{2}"])
def test_names_that_recur_behind_a_number_or_before_a_dash_are_labels(form: str) -> None:
    turns = [
        ("Anne-Marie", "good morning"),
        ("Tom", "hi"),
        ("Anne-Marie", "fine - or so"),
        ("Tom", "yes"),
        ("Ann", "no"),
    ]
    text = "".join(form.format(at, name, words) + "\n" for at, (name, words) in enumerate(turns, start=1))
    assert said(read(text)) == {f"talk-7-{at}/{name}": words for at, (name, words) in enumerate(turns, start=1)}


def test_labels_that_every_line_of_a_text_has_need_not_recur() -> None:
    assert said(read("Anna: we moved on\nBert: uh huh\n")) == {
        "talk-7-1/Anna": "we moved on",
        "talk-7-2/Bert": "uh huh",
    }


@pytest.mark.parametrize(
    "text",
    [
        "1. Red Apples: sweet\n2. Green Pears: soft\n",
        "1. buy: milk\n2. buy: bread\n",
        "Name: Anna\nPlace: Rome\n",
        "Anna: hi\nand so on\n",
        "Yes – I do\nNo – I do not\nYes – I do\nNo – why\n",
        "Monday – closed\nTuesday – open\nWednesday – open\n",
        "Anna – the tall one – came\nand so did Tom\nthen Anna – again – left\nand it was late\nso we left\n",
    ],
)
def test_lists_and_dashes_in_prose_are_spoken(text: str) -> None:
    assert list(said(read(text)).values()) == text.splitlines()


def test_speakers_on_lines_of_their_own_are_not_spoken() -> None:
    assert said(read("SPEAKER: S1\nso we go\nSPEAKER: S2\nyes\n", "a.txt")) == {
        "a-7-2/S1": "so we go",
        "a-7-4/S2": "yes",
    }


def test_labels_in_markdown_name_sessions_too() -> None:
    text = "**Anna Berg:** good morning\n\n**Ben:** a *fine* one\n\nand so it is\n\n**Anna Berg**: yes\n**Ben:** no\n"
    assert said(read(text)) == {
        "talk-7-1/Anna Berg": "good morning",
        "talk-7-3/Ben": "a *fine* one",
        "talk-7-5/Ben": "and so it is",
        "talk-7-7/Anna Berg": "yes",
        "talk-7-8/Ben": "no",
    }


@pytest.mark.parametrize("line", ["Speakers: Anna and Ben", "Channel 4", "the speaker says", "Agents: none"])
def test_a_line_that_only_begins_like_a_label_is_spoken(line: str) -> None:
    assert list(said(read(f"so we go\n{line}\non and on\n")).values()) == ["so we go", line, "on and on"]


def test_a_too_long_word_of_a_text_is_cut_without_loss() -> None:
    address = "https://example.org/" + "a" * 120
    (spoken,) = said(read(f"see {address} then\n")).values()
    assert spoken.replace(" ", "") == f"see{address}then"


def test_labels_of_a_text_on_standard_input_are_known_once_they_recur() -> None:
    text = "Anna: good morning\nSpeaker 2: hi\nAnna: fine\n"
    assert said(read(text, name="-")) == {
        "stdin-7-1": "Anna: good morning",
        "stdin-7-2/Speaker 2": "hi",
        "stdin-7-3/Anna": "fine",
    }


def test_a_byte_that_is_no_utf_8_is_an_error_only_where_it_is_read(tmp_path: Path) -> None:
    """whisper.cpp parts characters into tokens, which are not read."""
    head, tail = b'{"transcription": [{"offsets": {"from": 0, "to": 1000}, "text": "', b'"}]}'
    (tmp_path / "a.json").write_bytes(head + "你好".encode() + b'", "tokens": [{"text": "\xe4\xbd"}], "x": "' + tail)
    (tmp_path / "b.json").write_bytes(head + b"\xe4\xbd" + tail)
    (tmp_path / "c.txt").write_bytes(b"so\xe4\xbd\n")

    def whole(name: str) -> str:
        return "".join(read_lines(str(tmp_path / name), escaped_json=True))

    assert said(read(whole("a.json"), name="a.json")) == {"a-7": "你 好"}
    with pytest.raises(FatalError, match="half a character"):
        read(whole("b.json"), name="b.json")
    with pytest.raises(FatalError, match=r"is not UTF-8 text \(byte 2\); if it is Windows-1252 .* `iconv -f"):
        whole("c.txt")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-32-be"])
def test_wide_characters_are_named_and_no_sound(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "a.srt").write_bytes(
        "\ufeffso".removeprefix("" if encoding.endswith("be") else "\ufeff").encode(encoding)
    )
    with pytest.raises(FatalError, match=r"is UTF-16 or UTF-32: save it as UTF-8"):
        list(read_lines(str(tmp_path / "a.srt")))


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"RIFF\n\0\0\0WAVEfmt ", "WAV sound: give it to a recogniser"),
        (b"ID3\4\0", "MP3 sound"),
        (b"\xff\xfb\x90\n", "MP3 sound"),
        (b"OggS\0", "Ogg sound"),
        (b"\0\0\0\nftypM4A", "MPEG-4 sound"),
        (b'fLaC\0\0\0"', "FLAC sound"),
        (b"%PDF-1.7\n", "PDF: save it as plain text"),
        (b"PK\3\4" + b"\0" * 26 + b"[Content_Types].xml\nPK\3\4word/document.xml", "a Word document"),
        (b"PK\3\4" + b"\0" * 26 + b"mimetypeapplication/vnd.oasis.opendocument.text", "an OpenDocument file"),
        (b"PK\3\4" + b"\0" * 26 + b"talk.srt", "a zip archive or an office document: unpack it"),
    ],
)
def test_what_is_no_text_is_refused_by_its_kind(head: bytes, kind: str, tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(head + b"\xf0\0\n")
    for line_reader in (read_lines, readable_lines):
        with pytest.raises(FatalError, match=rf"a\.bin is {kind}"):
            list(line_reader(str(tmp_path / "a.bin")))


@pytest.mark.parametrize("head", ["", "\n", " \n\n"])
@pytest.mark.parametrize("first", ["{\n", "{ ", "{"])
def test_a_value_over_many_lines_is_known_by_all_of_it(head: str, first: str) -> None:
    words = [{"word": f"w{at}", "start": at, "end": at + 1} for at in range(200)]
    value = {"results": {"channels": [{"alternatives": [{"transcript": "w", "words": words}]}]}}
    content = head + json.dumps(value, indent=1).replace("{\n", first, 1)
    assert content.count("\n") > LOOKED_AT_LINES
    assert said(read(content, "a.json")) == {"a-7": " ".join(str(word["word"]) for word in words)}


def test_what_comes_live_is_known_by_its_first_value() -> None:
    speech = RecordedSpeech(name="-", lang="en", epoch=7, pace=Pace())
    lines = iter(['[{"text": "so", "result": []},\n', "not asked for yet"])
    found, _ = speech.format_of(lines, FileFormat.AUTO)
    assert (found, list(lines)) == ("vosk", ["not asked for yet"])


@pytest.mark.parametrize("text", ["the ftyp box", "fLaC is free", "ID3 tags", "PK and so on"])
def test_a_text_that_begins_like_a_signature_is_text(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    assert list(read_lines(str(tmp_path / "a.txt"))) == [text]


def test_transcripts_within_a_vcon_are_read_whoever_wrote_them() -> None:
    word = {"word": "good", "start": 0.1, "end": 0.4}
    deepgram = {"results": {"channels": [{"alternatives": [{"transcript": "good", "words": [word]}]}]}}
    bodies = [{"type": "summary", "body": "hi"}, {"type": "transcript", "body": json.dumps(deepgram)}]
    assert said(read(json.dumps({"uuid": "a", "parties": [], "analysis": bodies}), "a.json")) == {"a-7": "good"}


def test_long_names_of_files_and_voices_make_no_session_that_is_refused() -> None:
    content = f"WEBVTT\n\n00:01.000 --> 00:02.000\n<v {'Anna ' * 60}>yes</v>\n"
    assert list(said(read(content, name="长" * 90 + ".vtt")).values()) == ["yes"]


def test_times_far_down_in_a_text_on_standard_input_are_not_spoken() -> None:
    with pytest.raises(FatalError, match="standard input line 2 looks like a transcript with times"):
        read("so\n[0.00s -> 2.00s]  secret\n", name="-")


@pytest.mark.parametrize("line", ["Speaker 1: so\n", "[Speaker 1]:so\n", "Speaker 1:\t so\n"])
def test_a_label_goes_with_the_space_behind_it_and_the_rest_of_the_line_stays(line: str) -> None:
    assert SpokenLines().take(line) == ("Speaker 1", "so\n")
    assert SpokenLines().take("  so \n") == ("", "  so \n")
