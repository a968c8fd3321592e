"""Captions, counts and tentative words on a real Kafka: written by a running worker, shown by the commands."""

from __future__ import annotations

import json
import subprocess
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest

from caesura.schemas.codec import decode_tentative
from tests.harness.command import CAESURA, outside, started
from tests.harness.meeting import PASSWORD, Obs, meeting_held, obs_streaming
from tests.harness.rehearsal import Rehearsal
from tests.harness.waiting import comes

SAID = ("good", "morning", "everybody", "um", "can", "you", "all", "hear", "me")


def showing(rehearsal: Rehearsal, *arguments: str) -> AbstractContextManager[subprocess.Popen[str]]:
    """Start ``captions``, which reads from the topic's end on; ended with the block."""
    return started(
        *CAESURA,
        "captions",
        *arguments,
        environ=outside() | rehearsal.settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def utterance(rehearsal: Rehearsal, seq: int, **fields: object) -> None:
    """Send an utterance of session a, 10 s after the one before it."""
    words = [
        {"text": word, "start_ms": 10_000 * seq + 400 * place, "end_ms": 10_000 * seq + 400 * place + 300}
        for place, word in enumerate(SAID)
    ]
    event = {"version": "1.0", "session": "a", "seq": seq, "lang": "en", "words": words}
    rehearsal.send((json.dumps(event | fields).encode(), b"a"))


@pytest.mark.timeout(240)
def test_captions_go_into_a_meeting_a_stream_and_files_of_one_topic(rehearsal: Rehearsal, tmp_path: Path) -> None:
    rehearsal.make_topics(1)
    obs = Obs()
    with meeting_held() as meeting, obs_streaming(obs) as address, rehearsal.worker(), ExitStack() as stack:
        (tmp_path / "address").write_text(meeting.address + "\n")
        (tmp_path / "password").write_text(PASSWORD + "\n")
        to_zoom = ("zoom", "--session", "a", "--address-file", str(tmp_path / "address"))
        to_obs = ("obs", "--session", "a", "--address", address, "--password-file", str(tmp_path / "password"))
        zoom, into_obs = (stack.enter_context(showing(rehearsal, *one)) for one in (to_zoom, to_obs))
        sent = 0

        def both_show() -> bool:  # what was frozen before they read from the end is not theirs
            nonlocal sent
            utterance(rehearsal, sent, utterance_end=True)
            sent += 1
            return bool(meeting.shown and obs.shown)

        assert comes(both_show, within_s=90, every_s=2.0)
        utterance(rehearsal, sent, session_end=True)
        told = [one.communicate(timeout=60)[0] for one in (zoom, into_obs)]
        assert [zoom.returncode, into_obs.returncode] == [0, 0], told
        assert "not connected" not in told[1]
        assert told[0].endswith(f"{len(meeting.shown)} captions shown, 0 not\n")
        assert meeting.seqs == list(range(1, len(meeting.shown) + 1))
        for shown in (meeting.shown, obs.shown):
            assert "morning" in " ".join(shown)
            assert " um " not in " ".join(shown).lower(), "captions are fluent"
        assert max(len(line) for text in obs.shown for line in text.splitlines()) <= 32

    def tail(*options: str) -> str:
        return rehearsal.run("tail", "--session", "a", "--from-start", "--no-follow", *options).stdout

    srt, vtt = tail("--format", "srt"), tail("--format", "vtt")
    assert srt.startswith("1\n00:00:00,000 --> 00:00:0")
    assert vtt.startswith("WEBVTT\n")
    assert srt.lower().count("everybody") == vtt.lower().count("everybody") == sent + 1
    assert "00:00:10,000 --> " not in tail("--format", "srt", "--stretch", "0-10")
    assert tail("--format", "srt", "--stretch", "0-10").lower().count("everybody") == 1
    head, counted = tail("--format", "counts").splitlines()
    assert head.split()[:3] == ["session", "words", "fillers"]
    assert counted.split()[:3] == ["a", str((sent + 1) * len(SAID)), str(sent + 1)]


@pytest.mark.timeout(180)
def test_tentative_words_come_before_they_freeze_and_are_marked_as_revisable(rehearsal: Rehearsal) -> None:
    rehearsal.changes["CAESURA_WORKER_TENTATIVE_TOPIC"] = rehearsal.topic("tentative")
    rehearsal.make_topics(1)
    with rehearsal.worker():
        utterance(rehearsal, 0)
        assert comes(lambda: rehearsal.values("tentative"), within_s=60)
        utterance(rehearsal, 1, session_end=True)
        tail = ("tail", "--from-start", "--no-follow", "--jsonl")
        rehearsal.until(lambda out: out.count('"session_end":true') == 1, *tail)
    first = decode_tentative(rehearsal.values("tentative")[0])
    assert (first.session, first.revisable) == ("a", True)
    assert tuple(word.text for word in first.words) == SAID[first.first_word :]
    assert 0 < first.labelled_words <= len(first.words)
