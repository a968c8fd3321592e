"""An upgrade and a roll-back in mid-stream between releases that write different minors of the stored state."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from subprocess import CalledProcessError

import pytest

from schemas.events import WordsEvent
from tests.harness.parts.lookup import missing
from tests.harness.places import ROOT, SHIPPED
from tests.harness.rehearsal import Rehearsal
from tests.harness.release import release
from tests.harness.speech import check_every_word_once, speech
from tests.harness.waiting import wait_until
from tests.integration.sessions import send_with_contexts, stored

pytestmark = pytest.mark.timeout(300)
_WROTE_1_0 = "cd1fd76426d5fe7e13945bee8004e3fbe7d04e2c"
"""A commit whose snapshots are of version 1.0; 1.1 added the contexts of words that wait."""


@pytest.fixture
def former() -> Iterator[Path]:
    try:
        with release(_WROTE_1_0) as folder:
            yield folder
    except CalledProcessError:
        if _is_shallow():
            pytest.skip("a shallow clone; tests/unit/schemas/test_golden_stored.py has what the former release stores")
        missing("a clone with the history that holds the former release")


def _is_shallow() -> bool:
    command = ["/usr/bin/env", "git", "-C", str(ROOT), "rev-parse", "--is-shallow-repository"]
    return subprocess.run(command, capture_output=True, check=False).stdout.strip() == b"true"


def _models_for_both(folder: Path) -> Path:
    """Return a models folder that both releases read: the former one had none, nor look-back, nor a closing head."""
    copied = shutil.copytree(SHIPPED / "en-small", folder / "models" / "en-small")
    manifest = json.loads((copied / "manifest.json").read_text(encoding="utf-8")) | {"active": True, "manifest": "1.2"}
    del manifest["look_back"], manifest["closing"]
    (copied / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return copied.parent


def test_sessions_go_on_through_upgrades_and_a_roll_back_of_the_state_that_is_stored(
    rehearsal: Rehearsal, former: Path, tmp_path: Path
) -> None:
    rehearsal.changes = {"CAESURA_WORKER_MODELS_DIR": str(_models_for_both(tmp_path))}
    rehearsal.follow("Before the first start", 0)
    sessions = [speech(f"call-{number}", 60) for number in range(6)]
    # Switched on, traces are what 1.1 stores and 1.0 does not know; nobody listens for the spans.
    traced = {
        "CAESURA_WORKER_TRACES": "otlp",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
    }
    wrote_1_1 = []
    sent: list[WordsEvent] = []
    for phase, (sources, settings) in enumerate(((former, {}), (ROOT, traced), (former, {}), (ROOT, traced))):
        with rehearsal.worker(settings=settings, release=sources) as worker:
            worker.wait_until_ready()
            now = [event for session in sessions for event in session[phase * 4 : phase * 4 + 4]]
            send_with_contexts(rehearsal, now, start=len(sent))
            sent.extend(now)
            wait_until(lambda: rehearsal.committed() == len(sent), worker.log.read_text)
            worker.stop()
            assert worker.lines("rebuilt") == []
        wrote_1_1.append(b"\xa31.1" in stored(rehearsal))
    assert wrote_1_1[:2] == [False, True]
    check_every_word_once(sent, rehearsal.segments())
