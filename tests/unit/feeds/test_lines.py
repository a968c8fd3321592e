"""Lines of files that are no ordinary files: a pipe, a device without an end, a folder."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Thread

import pytest

from caesura.worker.errors import FatalError
from caesura.worker.feeds.lines import read_lines, readable_lines


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_bytes, args=(b"so um\r\nwe go\ryes",))
    writer.start()
    assert list(read_lines(str(pipe))) == ["so um\r\n", "we go\r", "yes"]
    writer.join()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no device without an end")
def test_a_line_without_an_end_is_refused_at_the_limit() -> None:
    with pytest.raises(FatalError, match="/dev/zero has a line of more than 100000 bytes"):
        list(read_lines("/dev/zero", longest_bytes=100_000))
    with pytest.raises(FatalError, match="/dev/zero has a line of more than 100000 bytes"):
        list(readable_lines("/dev/zero", longest_bytes=100_000))


def test_a_line_as_long_as_the_limit_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"x" * 9 + b"\n" + b"y" * 10)
    assert list(read_lines(str(tmp_path / "a.txt"), longest_bytes=10)) == ["x" * 9 + "\n", "y" * 10]


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FatalError, match="cannot be read"):
        list(read_lines(str(tmp_path)))
