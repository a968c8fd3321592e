"""What a worker's process tells is whole, however often a test asks for it meanwhile."""

from __future__ import annotations

import subprocess
import sys

from tests.harness.running import TeacherTargets

_LINES = 20_000
_TELL = f"import os\nfor number in range({_LINES}): os.write(2, b'%d\\n' % number)"


def test_what_a_process_tells_stays_as_it_is_while_it_is_read() -> None:
    told = TeacherTargets()
    process = subprocess.Popen([sys.executable, "-c", _TELL], stderr=told.file)
    try:
        while process.poll() is None:
            told.read()
        assert told.read().split() == [str(number) for number in range(_LINES)]
    finally:
        process.kill()
        told.close()
