"""A process's resident memory is the kernel's figure, in bytes."""

from __future__ import annotations

import mmap
import os
import resource
import subprocess
import sys

import pytest

from caesura.worker.sizing.resident_memory import resident_bytes


def test_it_grows_by_what_is_touched_and_is_no_more_than_the_most_there_was() -> None:
    with mmap.mmap(-1, 64 * 2**20) as fresh:
        before = resident_bytes()
        fresh.write(b"x" * len(fresh))
        assert resident_bytes(os.getpid()) - before > 60 * 2**20
    assert resident_bytes() <= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + 2**20


def test_of_a_process_that_has_ended_there_is_none() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    assert resident_bytes(ended.pid) == 0
    ended.wait()
    with pytest.raises(OSError, match="No such file"):
        resident_bytes(ended.pid)
