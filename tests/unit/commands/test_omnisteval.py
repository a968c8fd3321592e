"""What OmniSTEval is given: a line a session, and the delay of each word."""

from __future__ import annotations

import json
from pathlib import Path

from msgspec import structs

from caesura.schemas.segments import Segment, Timing
from caesura.worker.core.rendering.rendering import Style, render_segment
from caesura.worker.transcripts.omnisteval import OmniSTEvalLog
from tests.harness.segments import TimedWord, timed_segment
from tests.harness.terminal import Terminal


def _rendered(segment: Segment) -> str:
    return render_segment(segment, Style.FLUENT).text


def _frozen(*words: TimedWord, appended_ms: int, frozen_ms: int, ends: bool = False, lang: str = "en") -> Segment:
    timing = Timing(appended_ms=appended_ms, polled_ms=0, frozen_ms=frozen_ms)
    return structs.replace(timed_segment(*words, lang=lang), timing=timing, session_end=ends)


def test_each_word_has_the_delay_of_its_segment_by_the_recordings_clock() -> None:
    log = OmniSTEvalLog(_rendered)
    said = _frozen(("so", "comma", 0, 300), ("yes", "period", 0, 400), appended_ms=700, frozen_ms=2_000)
    more = _frozen(("no", "period", 800, 200), appended_ms=1_000, frozen_ms=3_000, ends=True)
    assert list(log.add(said, elapsed_ms=2_010.04)) == []
    (line,) = log.add(more, elapsed_ms=3_100.0)
    assert json.loads(line) == {
        "source": "s",
        "prediction": "So, yes. No.",
        "source_length": 1_000,
        "segments": [
            {"text": "So, yes.", "delay": 2_000, "elapsed": 2_010.0},
            {"text": "No.", "delay": 3_000, "elapsed": 3_100.0},
        ],
        "delays": [2_000, 2_000, 3_000],
        "elapsed": [2_010.0, 2_010.0, 3_100.0],
    }
    assert list(log.finish()) == []


def test_by_the_workers_clock_the_start_is_that_of_the_word_that_came_fastest() -> None:
    log = OmniSTEvalLog(_rendered)
    list(log.add(_frozen(("so", "comma", 0, 300), ("yes", "period", 0, 400), appended_ms=50_900, frozen_ms=51_000)))
    list(log.add(_frozen(("no", "period", 800, 200), appended_ms=51_100, frozen_ms=51_200)))
    (line,) = log.finish()  # 50,900 - 700 and 51,100 - 1,000: the recording began at 50,100 at the latest
    assert json.loads(line)["elapsed"] == [900, 900, 1_100]
    assert "delays" not in json.loads(line)


def test_words_without_times_have_no_delays() -> None:
    log = OmniSTEvalLog(_rendered)
    list(log.add(timed_segment(("so", "comma", 0, 300), ("yes", "period", 0, 400), timed=False)))
    (line,) = log.finish()
    assert json.loads(line).keys() == {"source", "prediction", "source_length", "segments"}


def test_where_a_language_writes_no_spaces_each_character_has_its_delay() -> None:
    log = OmniSTEvalLog(_rendered)
    list(log.add(_frozen(("你好", "comma", 0, 300), appended_ms=0, frozen_ms=400, lang="zh"), elapsed_ms=500))
    list(log.add(_frozen(("再见", "period", 0, 300), appended_ms=0, frozen_ms=900, lang="zh"), elapsed_ms=950))
    (line,) = log.finish()
    found = json.loads(line)
    assert found["prediction"] == "你好，再见。"
    assert found["delays"] == [400, 400, 400, 900, 900, 900]


def test_a_recordings_words_wait_for_the_words_that_settle_them(terminal: Terminal, tmp_path: Path) -> None:
    told = "good morning everyone i would like to talk about our garden today it is small but it grows well"
    spoken = told.split()
    file = tmp_path / "talk.jsonl"
    events = [
        {
            "session": "talk",
            "seq": seq,
            "lang": "en",
            "words": [{"text": text, "start_ms": seq * 400, "end_ms": seq * 400 + 300}],
        }
        for seq, text in enumerate(spoken)
    ]
    file.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    done = terminal.run("transcribe", str(file), "--output", "omnisteval")
    assert done.status == 0
    (found,) = map(json.loads, done.out.splitlines())
    words = found["prediction"].split()
    assert found["source"] == "talk"
    assert found["source_length"] == 400 * (len(spoken) - 1) + 300
    assert len(found["delays"]) == len(found["elapsed"]) == len(words)
    assert found["delays"] == sorted(found["delays"])
    assert all(late > heard for late, heard in zip(found["elapsed"], found["delays"], strict=True))
    assert found["delays"][-1] == found["source_length"]
    assert " ".join(piece["text"] for piece in found["segments"]) == found["prediction"]
