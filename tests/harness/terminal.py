"""The command line in this process or in a pseudo-terminal: what it prints, and how it ends; and hostile names."""

from __future__ import annotations

import io
import logging
import os
import pty
import re
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec
import pytest

from caesura.schemas.codec import decode_segment
from caesura.schemas.segments import Segment
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.cli import main
from tests.harness.command import CAESURA, outside
from tests.harness.places import ROOT, SHIPPED

TITLE, CLEAR, CLIPBOARD = "\x1b]0;owned\x07", "\x1b[2J\x1b[H", "\x1b]52;c;cm0=\x07"
HOSTILE = f"a{TITLE}{CLEAR}{CLIPBOARD}\x9b31mb\u202ec\r\nreason:            all is well"
MOVES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def hostile_segment() -> Segment:
    """Return a segment whose names and words are hostile to a terminal."""
    golden = next((ROOT / "schemas" / "golden" / "1.0").glob("segment.sentence.msgpack")).read_bytes()
    segment = decode_segment(golden)
    words = tuple(msgspec.structs.replace(word, text=HOSTILE) for word in segment.words)
    names = dict.fromkeys(("session", "conversation", "speaker", "role", "channel"), HOSTILE)
    return msgspec.structs.replace(segment, words=words, **names)


def in_a_terminal(*arguments: str, until: Callable[[str], bool] | None = None, **variables: str) -> str:
    """Run the command in a pseudo-terminal; return what it wrote there. until: Ctrl-C comes once this holds of it."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execve(  # noqa: S606
            CAESURA[0], [*CAESURA, *arguments], outside() | {"TERM": "xterm", "COLUMNS": "200"} | variables
        )
    written, ends_at_s = b"", time.monotonic() + 120
    while time.monotonic() < ends_at_s and select.select([terminal], [], [], 120)[0]:
        try:
            data = os.read(terminal, 4096)
        except OSError:
            break
        if not data:
            break
        written += data
        if until is not None and until(written.decode(errors="ignore")):
            until = None
            os.kill(pid, signal.SIGINT)
    os.close(terminal)
    os.waitpid(pid, 0)
    return written.decode()


@cache
def _shipped_engine(active: tuple[str, ...]) -> OnnxEngine:
    return OnnxEngine(SHIPPED, active=active)


def _engine(folder: Path, *, active: Sequence[str] = ()) -> OnnxEngine:
    """Return an engine; of the shipped models, which take a second to load, the one that commands before had."""
    return _shipped_engine(tuple(active)) if folder.resolve() == SHIPPED else OnnxEngine(folder, active=active)


class Terminal:
    """Runs the command in this process: quicker, and as true where only text and status matter."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def run(self, *arguments: str, given: str = "", **variables: str) -> Outcome:
        """Run a command. given: what its standard input holds."""
        with self._monkeypatch.context() as patch:
            for name in os.environ:
                if name.startswith("CAESURA_"):
                    patch.delenv(name)
            for name, value in ({"COLUMNS": "200", "NO_COLOR": "1"} | variables).items():
                patch.setenv(name, value)
            for command in ("punctuate", "transcribe"):
                patch.setattr(f"caesura.worker.commands.{command}.OnnxEngine", _engine)
            patch.setattr(sys, "argv", ["caesura", *arguments])
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
            patch.setattr(sys.modules["__main__"], "__package__", "")  # or it calls itself ``python -m pytest.caesura``
            with pytest.raises(SystemExit) as ended:
                main()
        logging.getLogger("caesura.kafka").setLevel(logging.NOTSET)  # the command silences it for its process
        shown = self._capsys.readouterr()
        return Outcome(status=int(ended.value.code or 0), out=shown.out, err=shown.err)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    status: int
    out: str
    err: str
