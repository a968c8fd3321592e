"""A server of ours as a child: what its signals promise."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from caesura.worker.embedded.guarded_process import GuardedProcess

_THREADS = """
import pathlib, sys, threading, time
def count(place):
    while True:
        place.write_bytes(b"+" * 64)
places = [pathlib.Path(sys.argv[1]) / str(k) for k in range(8)]
for place in places:
    threading.Thread(target=count, args=(place,), daemon=True).start()
time.sleep(600)
"""


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[GuardedProcess]:
    """A process of eight busy threads."""
    process = GuardedProcess([sys.executable, "-c", _THREADS, str(tmp_path)], log=tmp_path / "log")
    while len(list(tmp_path.iterdir())) < 9:
        assert process.alive
    yield process
    process.signal(signal.SIGCONT)
    process.kill()


def test_when_a_stop_returns_nothing_of_the_child_runs_any_more(busy: GuardedProcess, tmp_path: Path) -> None:
    for _ in range(20):
        busy.signal(signal.SIGSTOP)
        before = {place: place.stat().st_mtime_ns for place in tmp_path.iterdir()}
        sum(range(300_000))  # some milliseconds
        assert {place: place.stat().st_mtime_ns for place in tmp_path.iterdir()} == before
        busy.signal(signal.SIGCONT)
    assert busy.alive


def test_a_stop_of_what_has_ended_returns(busy: GuardedProcess) -> None:
    busy.kill()
    busy.signal(signal.SIGSTOP)
    assert not busy.alive
