"""Two live workers of one ordinal: one of them stops within seconds, the other goes on, and every word comes once."""

from __future__ import annotations

import re

import pytest

from caesura.worker.app import ExitStatus
from caesura.worker.commands.worker import worker as worker_command
from caesura.worker.errors import FencedError
from caesura.worker.runtime.retries.fencings import Fencings
from tests.harness.in_memory_world import ManualClock, World
from tests.harness.places import ROOT
from tests.harness.speech import check_every_word_once, speech


def test_the_one_that_is_fenced_again_and_again_stops_and_the_other_goes_on() -> None:
    world = World(partitions=4)
    events = [one for number in range(12) for one in speech(f"ann-{number}", 40, a_time=2)]
    left = iter(events)
    workers = [world.worker(0), world.worker(0)]
    began_s = world.clock.monotonic_s()
    stopped: list[str] = []
    while len(workers) == 2:
        assert world.clock.monotonic_s() - began_s < 30.0, "both go on, and fence each other"
        for one in list(workers):
            world.send(*(spoken for spoken in [next(left, None)] if spoken is not None))
            try:
                one.turn()
            except FencedError as error:
                stopped.append(str(error))
                workers.remove(one)
                world.broker.expel("caesura", "asr.words", one.source.member_id)
    world.send(*left)
    workers[0].turn(400)
    check_every_word_once(events, world.segments())
    (why,) = stopped
    assert "worker.ordinal" in why


def test_peers_that_end_what_a_paused_worker_left_open_do_not_stop_it() -> None:
    clock = ManualClock()
    fencings = Fencings(clock)
    for _ in range(50):
        assert not fencings.another()
        clock.pass_s(10.0)


def test_every_exit_status_stands_in_the_help_and_on_the_operators_page() -> None:
    table = (ROOT / "docs/operations.md").read_text().partition("### Exit status")[2].partition("\n## ")[0]
    said = worker_command.__doc__ or ""
    for status in ExitStatus:
        assert re.search(rf"^\| {status.value} \|", table, re.MULTILINE), status
        assert re.search(rf"\b{status.value} ", said.partition("Exit status:")[2]), status
    assert "exit status" in (ROOT / "docs/alerts.md").read_text().lower()


@pytest.mark.parametrize("setting", ["worker.ordinal", "kafka.group_instance_id"])
def test_the_page_names_the_settings_that_make_a_second_worker_of_one_name(setting: str) -> None:
    assert f"`{setting}`" in (ROOT / "docs/operations.md").read_text().partition("### Exit status")[2]
