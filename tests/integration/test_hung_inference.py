"""An inference that hangs ends the command with the status that its help names, and a restart goes on."""

from __future__ import annotations

import sys

import pytest

from tests.harness.places import ROOT
from tests.harness.rehearsal import Rehearsal
from tests.integration.sessions import events, wait_for_ends, whole, words_by_session
from worker.app import ExitStatus

_HANGING = f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m tests.harness.hanging "$@"\n'


@pytest.mark.timeout(300)
def test_a_command_whose_inference_hangs_ends_with_its_status_and_the_next_one_labels_every_word_once(
    rehearsal: Rehearsal,
) -> None:
    rehearsal.follow("Before the first start", 0)
    command = rehearsal.folder / "bin" / "caesura"
    sound = command.read_text()
    rehearsal.say(*events(["call-0", "call-1"], first=0, last=12, end=True))
    command.write_text(_HANGING)
    with rehearsal.worker(settings={"CAESURA_WORKER_INFERENCE_DEADLINE_MS": "500"}) as hanging:
        status = hanging.process.wait(timeout=60)
        assert status == ExitStatus.INFERENCE_HUNG, hanging.log.read_text()[-3000:]
        assert [line["error"] for line in hanging.lines("failed")] == ["InferenceHung"]
    assert rehearsal.segments() == []
    command.write_text(sound)
    with rehearsal.worker() as worker:
        wait_for_ends(rehearsal, 2, worker)
        worker.stop()
    assert words_by_session(rehearsal.segments()) == whole(["call-0", "call-1"], 12)
