"""The library reads recordings and makes transcripts; its errors are of one kind, and it says what a thing is."""

from __future__ import annotations

from pathlib import Path

import pytest

import caesura
from caesura.model import Model
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words

CALL = """WEBVTT

00:00:01.000 --> 00:00:02.000
<v Ada>uh hello-stop

00:00:02.500 --> 00:00:04.000
<v Bo>yes-stop so it goes
"""


@pytest.fixture
def call(tmp_path: Path) -> Path:
    (tmp_path / "call.vtt").write_text(CALL, encoding="utf-8")
    return tmp_path / "call.vtt"


def model() -> Model:
    return Model(ScriptedEngine(script=marked_words))


def test_a_recording_is_read_and_transcribed(call: Path) -> None:
    recording = caesura.read(call)
    assert recording.sessions == {"call/Ada": 2, "call/Bo": 4}
    transcript = model().transcribe(recording)
    assert transcript.text == "[00:00:01] Ada: Hello-stop.\n\n[00:00:02] Bo: Yes-stop. So it goes.\n"
    assert "{Uh}" in transcript.marked
    assert "<v Bo>Yes-stop." in transcript.vtt
    assert "Bo: Yes-stop." in transcript.srt
    assert str(model().transcribe(call)) == transcript.text, "a path is read first, and a recording may be used again"
    assert [side.name for side in transcript.characteristics.sides] == ["Ada", "Bo"]
    assert transcript.refused == {}
    spoken = [word.text for one in transcript.segments for word in one.words]
    assert " ".join(spoken) == "uh hello-stop yes-stop so it goes"


def test_errors_are_of_one_kind(call: Path, tmp_path: Path) -> None:
    session = model().session()
    for wrong in (
        lambda: caesura.read(tmp_path / "missing.json"),
        lambda: caesura.read(call, format="vt"),
        lambda: session.feed(["two words"]),
        lambda: model().session(emision="settled"),
        lambda: caesura.load("xx"),
    ):
        with pytest.raises(caesura.CaesuraError):
            wrong()
    with pytest.raises(ValueError, match="there is no format 'vt'; there are auto, text"):
        caesura.read(call, format="vt")


def test_feed_says_that_its_keys_are_sessions() -> None:
    with pytest.raises(caesura.ArgumentError, match=r"the keys are sessions, which model.session\(\) makes, not str"):
        model().feed({"agent": "hello"})  # type: ignore[dict-item]


def test_captions_of_a_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text("good day\n", encoding="utf-8")
    with pytest.raises(caesura.CaesuraError, match="has no times of words"):
        _ = model().transcribe(tmp_path / "talk.txt").vtt


def test_everything_says_what_it_is(call: Path) -> None:
    many = model()
    session = many.session()
    (frozen, *_) = session.feed("uh yes-stop one two three four five six seven eight nine")
    assert repr(many) == "<caesura.Model en of en, zh>"
    assert repr(session) == "<caesura.Session session-1 en>"
    assert repr(frozen) == "<caesura.Segment session-1 #0, sentence: '{Uh} yes-stop.'>"
    assert repr(session.unfrozen).startswith("<caesura.Unfrozen session-1, ")
    session.end()
    assert repr(session) == "<caesura.Session session-1 en, ended>"
    recording = caesura.read(call)
    assert repr(recording) == f"<caesura.Recording {call}: vtt, 2 sessions, 6 words>"
    assert repr(many.transcribe(recording)) == f"<caesura.Transcript {call}: 2 sessions, 3 segments>"
