"""The commit protocol's rows that are no plain crash: timers, closings, unknown outcomes, fences, offsets from outside.

Each is shown on the twins and on a real Apache Kafka and a real Redis.
"""

from __future__ import annotations

import pytest

from caesura.schemas.events import WordsEvent
from caesura.worker.ports.commit_steps import CommitStep
from tests.crash.stages import Player, Stage
from tests.harness.crashing import Crash, CrashAt
from tests.harness.speech import by_session, check_every_word_once, event, said, speech
from tests.harness.unsure import Plan

pytestmark = pytest.mark.timeout(400)  # a slow machine is no failure

_LONG_AGO_MS = 30_000


def test_a_silence_flush_that_dies_before_its_commit_is_fired_again(stage: Stage) -> None:
    crash = CrashAt(CommitStep.STAGED, armed=False)
    first = stage.enter(0, observer=crash)
    stage.send(event("ann", 0, "we", "wait"))
    first.until(lambda: first.caught_up)
    crash.armed = True
    _until_it_crashes(first)
    assert stage.segments() == []
    second = stage.enter(1)
    second.until(lambda: bool(stage.segments()))
    assert [(one.cause, said([one])) for one in stage.segments()] == [("silence", ["we", "wait"])]


def test_another_owner_passes_an_aborted_timer_flushs_offset(stage: Stage) -> None:
    crash = CrashAt(CommitStep.STAGED, armed=False)
    first = stage.enter(0, observer=crash)
    spoken_ms = stage.now_ms() - _LONG_AGO_MS
    stage.send(event("ann", 0, "we", "wait"), timestamp_ms=spoken_ms)
    first.until(lambda: first.caught_up)
    crash.armed = True
    _until_it_crashes(first)
    events = [event("ann", 0, "we", "wait"), event("ann", 1, "no", "more", session_end=True)]
    stage.send(events[1], timestamp_ms=spoken_ms + 100)
    second = stage.enter(1)
    second.until(lambda: second.caught_up)
    # By the records' own time there was no silence between the two: nothing of the aborted flush may show.
    assert "silence" not in {one.cause for one in stage.segments()}
    check_every_word_once(events, stage.segments())


@pytest.mark.parametrize("how", ["end", "idle"])
def test_a_session_closed_by_an_aborted_checkpoint_is_closed_once_by_the_next(stage: Stage, how: str) -> None:
    crash = CrashAt(CommitStep.OFFSETS_SENT, armed=False)
    first = stage.enter(0, observer=crash)
    spoken_ms = stage.now_ms() - _LONG_AGO_MS
    stage.send(event("ann", 0, "that", "is", "all"), timestamp_ms=spoken_ms)
    first.until(lambda: first.caught_up)
    crash.armed = True
    if how == "end":
        stage.send(event("ann", 1, session_end=True), timestamp_ms=spoken_ms + 1)
    else:
        stage.send(event("ben", 0, "now", session_end=True), timestamp_ms=spoken_ms + 20_000)
    _until_it_crashes(first)
    second = stage.enter(0)
    second.until(lambda: second.caught_up)
    spoken = by_session(stage.segments())["ann"]
    assert said(spoken) == ["that", "is", "all"]
    assert [one.index for one in spoken] == list(range(len(spoken)))
    assert [one.session_end for one in spoken].count(True) == 1
    assert spoken[-1].cause == how


def test_a_session_closed_by_an_aborted_checkpoint_keeps_counting(stage: Stage) -> None:
    crash = CrashAt(CommitStep.STAGED, armed=False)
    first = stage.enter(0, observer=crash)
    spoken_ms = stage.now_ms() - _LONG_AGO_MS
    stage.send(event("ann", 0, "one", "two"), timestamp_ms=spoken_ms)
    first.until(lambda: first.caught_up)
    crash.armed = True
    stage.send(event("ben", 0, "now", session_end=True), timestamp_ms=spoken_ms + 20_000)
    _until_it_crashes(first)
    stage.send(event("ann", 1, "three", session_end=True), timestamp_ms=spoken_ms + 20_001)
    second = stage.enter(1)
    second.until(lambda: second.caught_up)
    spoken = by_session(stage.segments())["ann"]
    assert said(spoken) == ["one", "two", "three"]
    assert [one.index for one in spoken] == list(range(len(spoken)))


@pytest.mark.parametrize("plan", [Plan.COMMITS_UNTOLD, Plan.NEVER_COMMITS])
def test_a_commit_without_an_answer_is_looked_up_and_the_words_come_once(stage: Stage, plan: Plan) -> None:
    events = speech("ann", 30)
    player, unsure = stage.enter_unsure(0)
    stage.send(*events[:3])
    player.until(lambda: player.caught_up)
    unsure.plans.append(plan)
    stage.send(*events[3:])
    player.until(lambda: player.caught_up and not unsure.plans)
    check_every_word_once(events, stage.segments())


def test_after_an_abort_nothing_that_was_polled_is_skipped(stage: Stage) -> None:
    events = speech("ann", 40)
    player, unsure = stage.enter_unsure(0)
    stage.send(*events[:3])
    player.until(lambda: player.caught_up)
    unsure.plans += [Plan.ABORTS, Plan.ABORTS]
    stage.send(*events[3:6])
    player.until(lambda: not unsure.plans)
    stage.send(*events[6:])
    player.until(lambda: player.caught_up)
    check_every_word_once(events, stage.segments())


def test_a_timer_flush_that_is_aborted_is_fired_again_by_the_same_owner(stage: Stage) -> None:
    player, unsure = stage.enter_unsure(0)
    stage.send(event("ann", 0, "we", "wait"))
    player.until(lambda: player.caught_up)
    unsure.plans.append(Plan.ABORTS)
    player.until(lambda: not unsure.plans and bool(stage.segments()))
    assert [(one.index, one.cause, said([one])) for one in stage.segments()] == [(0, "silence", ["we", "wait"])]


def test_an_offset_set_from_outside_parks_the_partition_and_says_so(stage: Stage) -> None:
    events = _settled_then_reset(stage)
    player = stage.enter(1)
    player.until(lambda: bool(player.worker.assignment.parked))
    assert player.worker.unready() == ("partition 0 parked: offset_from_outside",)
    assert said(stage.segments()) == [word.text for one in events for word in one.words]


def test_an_offset_set_from_outside_is_adopted_where_the_setting_allows_it(stage: Stage) -> None:
    events = _settled_then_reset(stage)
    player = stage.enter(1, adopt_foreign_offsets=True)
    player.until(lambda: player.caught_up)
    assert player.worker.unready() == ()
    words = [word.text for one in events for word in one.words]
    beyond_the_first = words[len(events[0].words) :]
    assert said(stage.segments()) == words + beyond_the_first
    again = stage.enter(2)
    player.vanish()
    again.until(lambda: again.caught_up)
    assert said(stage.segments()) == words + beyond_the_first
    assert [one.since for one in stage.segments()][-1] == 1


def test_a_changed_partition_count_parks_what_is_held_and_refuses_what_is_new(stage: Stage) -> None:
    player = stage.enter(0)
    stage.send(*speech("ann", 12, end=False))
    player.until(lambda: player.caught_up)
    stage.add_partitions()
    stage.send_to(1, event("ben", 0, "a", "producer", "knows", "already"))
    player.until(lambda: sorted(player.worker.assignment.parked) == [0, 1])
    assert all("partition_count_changed" in reason for reason in player.worker.unready())
    assert stage.letters() == []


def _settled_then_reset(stage: Stage) -> list[WordsEvent]:
    events = speech("ann", 12)
    first = stage.enter(0)
    stage.send(*events)
    first.until(lambda: first.caught_up)
    first.worker.drain()
    stage.set_offset(1)
    return events


def _until_it_crashes(player: Player) -> None:
    with pytest.raises(Crash):
        player.until(lambda: False)
    player.vanish()
