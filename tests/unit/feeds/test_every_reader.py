"""Every format that is read: its words against a plain reading of the file, and every form of transcript of it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.schemas.labels import Casing, Disfluency, Punctuation
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.errors import FatalError
from caesura.worker.feeds.file_format import FORMATS, FileFormat, SpeechFormat
from caesura.worker.feeds.recorded_speech import RecordedSpeech
from caesura.worker.feeds.timed_events import Pace
from caesura.worker.transcripts.decoding import RecordingDecoder
from caesura.worker.transcripts.recording import open_recording
from caesura.worker.transcripts.writing import TranscriptForm, TranscriptWriter
from tests.unit.feeds.reader_files import FILES

_UNTIMED = ("text", "openai-realtime", "vosk", "pipecat", "jambonz")
_WORD = st.from_regex(r"\Azq[a-z]{1,8}\Z")
_UTTERANCES = st.lists(st.lists(_WORD, min_size=1, max_size=10), min_size=1, max_size=5)


def plainly_read(content: str) -> list[str]:
    """Return the words of a file as they stand in it: no format has a field with such a name."""
    return re.findall(r"zq[a-z]+", content)


def test_every_format_has_a_file() -> None:
    assert set(FILES) == set(FORMATS[1:])


@pytest.mark.parametrize("known", FILES, ids=str)
@settings(max_examples=5)
@given(utterances=_UTTERANCES)
def test_every_reader_returns_the_words_of_the_file(known: SpeechFormat, utterances: list[list[str]]) -> None:
    content = FILES[known](utterances)
    assert plainly_read(content) == [word for said in utterances for word in said]
    speech = RecordedSpeech(name="a", lang="en", epoch=1, pace=Pace(sessions_at_once=1))
    found, lines = speech.format_of(iter(content.splitlines(keepends=True)), FileFormat.AUTO)
    assert found == known
    events = [timed.event for timed in speech.events(lines, found)]
    assert [word.text for event in events for word in event.words] == plainly_read(content)


def _no_label(model: str, words: Sequence[str], position: int, look_ahead_words: int) -> tuple[int, ...]:  # noqa: ARG001
    return Punctuation.NONE, Disfluency.O, Casing.AS_GIVEN


SAID = [["zqgood", "zqmorning", "zqall"], ["zqgood", "zqbye"]]


@pytest.mark.parametrize("known", FILES, ids=str)
def test_every_input_is_written_in_every_form_with_all_words(known: SpeechFormat, tmp_path: Path) -> None:
    file = tmp_path / "call"
    file.write_text(FILES[known](SAID), encoding="utf-8")
    recording = open_recording(str(file))
    batches = list(RecordingDecoder(ScriptedEngine(script=_no_label)).decoded(recording.events))
    expected = [word for said in SAID for word in said]
    for form in TranscriptForm:
        writer = TranscriptWriter(name="call", form=form, sides=not recording.is_text)
        if form in (TranscriptForm.SRT, TranscriptForm.VTT) and known in _UNTIMED:
            with pytest.raises(FatalError, match="has no times of words"):
                list(writer.written(iter(batches)))
            continue
        written = "".join(writer.written(iter(batches))).lower()
        texts = re.findall(r'"text":"(zq[a-z]+)"', written) if form is TranscriptForm.JSONL else plainly_read(written)
        if form is TranscriptForm.VCON:
            texts = [word["text"] for word in json.loads(written)["analysis"][0]["body"]["words"]]
        if form is TranscriptForm.OMNISTEVAL:  # the prediction, and each segment of it
            assert sorted(texts) == sorted(expected * 2)
        else:
            assert texts == expected, form
