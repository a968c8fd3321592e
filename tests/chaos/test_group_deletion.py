"""A deletion whose process dies is tried again: librdkafka's admin client may end its process."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.chaos.group_deletion import done_apart

_FIRST_FAILS = """
import os, sys, time
from pathlib import Path
if not Path(sys.argv[1]).exists():
    Path(sys.argv[1]).touch()
    {failure}
Path(sys.argv[2]).touch()
"""


@pytest.mark.parametrize("failure", ["os.abort()", "raise TimeoutError", "time.sleep(60)"])
def test_a_try_that_dies_or_fails_or_hangs_is_followed_by_another(failure: str, tmp_path: Path) -> None:
    tried, done = tmp_path / "tried", tmp_path / "done"
    command = [sys.executable, "-c", _FIRST_FAILS.format(failure=failure), str(tried), str(done)]
    done_apart(command, within_s=30.0, try_s=2.0)
    assert done.exists()


def test_what_is_never_done_is_said_with_its_reason() -> None:
    with pytest.raises(RuntimeError, match="ended with 3: no leader"):
        done_apart([sys.executable, "-c", "import sys; print('no leader', file=sys.stderr); sys.exit(3)"], within_s=0.0)
