"""A silence that is published was one in the log, whenever it was read, asked for and answered, and by whomever.

The log's own timestamps say what comes out: words of a session that stand ``flush_after_ms`` or more apart are cut
there, others are not. No code of the worker's has a part in that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.schemas.checkpoint import OffsetMetadata
from caesura.schemas.codec import encode_event
from caesura.worker.ports.records import OutMessage
from tests.harness.speech import event
from tests.harness.troubled_reading import FLUSH_MS, NAMES, REPLICATION_MS, Troubled, cuts_that_came_out

_LONG_MS = 2_500
"""So long a replica may lack what its leader has stamped, where it died and is in sync still."""


def test_an_end_that_was_told_long_ago_makes_no_silence_of_words_that_lie_in_the_log() -> None:
    troubled = Troubled()
    troubled.speak("ann", 0)
    troubled.speak("ben", 500)
    troubled.fetch(held=True)
    troubled.speak("ann", 100)
    troubled.wait(140_000)  # the process stands still; then the next fetch is slow
    troubled.turn(45)
    troubled.finish()
    assert cuts_that_came_out(troubled.world) == {"ann": [["ann-0", "ann-1"]], "ben": [["ben-0"]]}


def test_an_answer_that_is_heard_late_says_nothing_of_what_was_appended_meanwhile() -> None:
    troubled = Troubled()
    troubled.speak("ann", 0)
    troubled.speak("ben", 200)
    troubled.turn(2)
    troubled.wait(650)  # ann is due, and asked for
    troubled.leader(slow=True)
    troubled.turn(1)
    troubled.fetch(held=True)
    troubled.speak("ben", 50)
    troubled.wait(900)
    troubled.leader(slow=False)
    troubled.turn(20)
    troubled.finish()
    assert cuts_that_came_out(troubled.world) == {"ann": [["ann-0"]], "ben": [["ben-0", "ben-1"]]}


def test_a_worker_whose_clock_is_slow_makes_no_silence_of_the_time_that_reading_took() -> None:
    troubled = Troubled()
    troubled.step_clock(-3_000)
    troubled.speak("ann", 0)
    troubled.turn(2)
    troubled.speak("ann", 530)
    troubled.wait(2_000)
    troubled.finish()
    assert cuts_that_came_out(troubled.world) == {"ann": [["ann-0", "ann-1"]]}


def test_words_in_an_open_transaction_are_no_silence() -> None:
    troubled = Troubled()
    troubled.speak("ann", 0)
    writer = troubled.world.broker.init_producer("recogniser")
    troubled.wait(500)
    spoken = event("ann", 1, "ann-1")
    message = OutMessage(topic="asr.words", partition=0, key=b"ann", value=encode_event(spoken))
    troubled.world.broker.write(writer, message)
    troubled.turn(60)
    troubled.world.broker.end_transaction(writer, commit=True)
    troubled.finish()
    assert cuts_that_came_out(troubled.world) == {"ann": [["ann-0", "ann-1"]]}


def test_a_word_that_is_stamped_and_not_yet_replicated_when_the_leader_is_asked_is_no_silence() -> None:
    troubled = Troubled()
    troubled.speak("ann", 0)
    troubled.turn(2)
    troubled.speak("ann", FLUSH_MS - 100, unseen_ms=REPLICATION_MS)
    troubled.finish()
    assert cuts_that_came_out(troubled.world) == {"ann": [["ann-0", "ann-1"]]}


def test_a_word_that_a_replica_lacks_for_long_is_no_silence_where_its_leader_says_that_there_is_one() -> None:
    troubled = Troubled()
    troubled.speak("ann", 0)
    troubled.turn(2)
    troubled.speak("ann", FLUSH_MS - 100, unseen_ms=_LONG_MS, told=True)
    troubled.finish()
    assert cuts_that_came_out(troubled.world) == {"ann": [["ann-0", "ann-1"]]}


@pytest.mark.parametrize("name", NAMES)
def test_whoever_falls_silent_is_cut_soon_and_nobody_needs_to_speak_for_it(name: str) -> None:
    troubled = Troubled()
    troubled.speak(name, 0)
    began_s = troubled.world.clock.monotonic_s()
    while not troubled.world.segments():
        troubled.turn(1)
        assert troubled.world.clock.monotonic_s() - began_s < (FLUSH_MS + REPLICATION_MS) / 1000 + 0.3


_ACTIONS = st.lists(
    st.one_of(
        st.builds(
            lambda name, after_ms, unseen_ms: partial(
                Troubled.speak, name=name, after_ms=after_ms, unseen_ms=unseen_ms, told=unseen_ms == _LONG_MS
            ),
            st.sampled_from(NAMES),
            st.one_of(st.integers(0, 900), st.sampled_from([0, 100, 400, 530, 780, 799, 800, 801])),
            st.sampled_from([0, 0, 0, 50, REPLICATION_MS, _LONG_MS]),
        ),
        st.builds(lambda times: partial(Troubled.turn, times=times), st.integers(1, 60)),
        st.builds(lambda for_ms: partial(Troubled.wait, for_ms=for_ms), st.sampled_from([1, 100, 400, 700, 3_000])),
        st.builds(lambda held: partial(Troubled.fetch, held=held), st.booleans()),
        st.builds(lambda slow: partial(Troubled.leader, slow=slow), st.booleans()),
        st.just(Troubled.leader_fails),
        st.builds(lambda by_ms: partial(Troubled.step_clock, by_ms=by_ms), st.sampled_from([-2_000, -300, 300, 2_000])),
        st.just(Troubled.hand_over),
        st.just(Troubled.claim_in_vain),
    ),
    max_size=40,
)


@settings(max_examples=200, deadline=None)
@given(_ACTIONS)
def test_what_is_cut_as_silence_is_silence_in_the_log_whatever_delays_reading_asking_and_answering(
    actions: list[Callable[[Troubled], None]],
) -> None:
    troubled = Troubled()
    for act in actions:
        act(troubled)
    troubled.finish()
    assert cuts_that_came_out(troubled.world) == troubled.cuts


def _clock_set_back() -> Troubled:
    """Have one record stamped by a clock that is an hour ahead, and set before the next one."""
    troubled = Troubled()
    troubled.speak("ann", 0)
    troubled.world.clock.wall_offset_ms += 3_600_000
    troubled.speak("ben", 100)
    troubled.world.clock.wall_offset_ms -= 3_600_000
    troubled.speak("ann", 100)
    troubled.speak("cat", 100)
    return troubled


def _lose_redis(troubled: Troubled) -> None:
    troubled.hand_over()
    troubled.world.redis.lose_everything()


_MEANWHILE = pytest.mark.parametrize(
    "meanwhile",
    [lambda _: None, Troubled.hand_over, _lose_redis],
    ids=["the same owner", "another owner", "a rebuild"],
)


@_MEANWHILE
def test_a_clock_that_was_an_hour_ahead_keeps_no_silence_from_being_noticed_while_others_speak(
    meanwhile: Callable[[Troubled], None],
) -> None:
    troubled = _clock_set_back()
    troubled.turn(3)
    meanwhile(troubled)
    troubled.fetch(held=True)
    for _ in range(15):  # words lie in the log all the while
        troubled.speak("cat", 100)
    troubled.speak("ann", 100)
    troubled.finish()
    said = cuts_that_came_out(troubled.world)
    assert said["ann"] == [["ann-0"], ["ann-1"], ["ann-2"]]
    assert len(said["cat"]) == 1


@_MEANWHILE
def test_nor_one_from_the_last_record_that_was_read_to_the_next_one(meanwhile: Callable[[Troubled], None]) -> None:
    troubled = _clock_set_back()
    troubled.turn(3)
    meanwhile(troubled)
    troubled.fetch(held=True)
    troubled.speak("ann", 2_000)
    troubled.finish()
    assert cuts_that_came_out(troubled.world)["ann"] == [["ann-0"], ["ann-1"], ["ann-2"]]


@_MEANWHILE
def test_nor_does_it_make_a_silence_of_words_that_were_said_since(meanwhile: Callable[[Troubled], None]) -> None:
    troubled = Troubled()
    troubled.world.clock.wall_offset_ms += 3_600_000
    troubled.speak("ben", 0, ends=True)
    troubled.world.clock.wall_offset_ms -= 3_600_000
    troubled.speak("cat", 100)
    troubled.turn(3)
    meanwhile(troubled)
    troubled.speak("cat", 100)
    troubled.finish()
    words = [[word.text for word in one.words] for one in troubled.world.segments() if one.session == "cat"]
    assert words == [["cat-0", "cat-1"]]


@_MEANWHILE
@pytest.mark.parametrize("known", ["nobody", "somebody of before", "who spoke since"])
def test_nor_does_it_where_all_that_is_replayed_was_said_since(
    meanwhile: Callable[[Troubled], None], known: str
) -> None:
    """A rebuild reads nothing of the stamp that was ahead, and whoever the ledger knows best has spoken on."""
    troubled = Troubled()
    if known == "somebody of before":
        troubled.speak("ben", 0, ends=True)
    troubled.world.clock.wall_offset_ms += 3_600_000
    troubled.speak("cat", 0)
    troubled.world.clock.wall_offset_ms -= 3_600_000
    for _ in range(120):
        troubled.speak("cat", 20)
        troubled.turn(1)
    troubled.fetch(held=True)
    troubled.speak("cat", 1_000)
    troubled.speak("ann", 10)
    if known != "nobody":
        troubled.speak("cat", 10)
    troubled.fetch(held=False)
    troubled.turn(5)
    committed = troubled.world.broker.last_committed("caesura", "asr.words", 0)
    assert committed is not None
    metadata = OffsetMetadata.decode(committed.metadata)
    assert metadata is not None
    assert metadata.replay_offset > 10
    meanwhile(troubled)
    troubled.turn(5)
    troubled.speak("ann", 100)
    troubled.turn(300)
    words = [[word.text for word in one.words] for one in troubled.world.segments() if one.session == "ann"]
    assert words == [["ann-0", "ann-1"]]
