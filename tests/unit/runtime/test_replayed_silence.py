"""A rebuild publishes nothing of its own: whatever was silent long enough before Redis was lost was published then.

At which partition time a record was applied is known only of those that were their session's last at a commit. Where a
broker's clock was set, time may jump within what is replayed, as far as anybody can tell: that is no silence.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from caesura.schemas.segments import Segment
from tests.harness.troubled_reading import NAMES, REPLICATION_MS, Troubled

_Act = Callable[[Troubled], None]


def _say(name: str, after_ms: int = 0, *, ends: bool = False) -> _Act:
    return partial(Troubled.speak, name=name, after_ms=after_ms, ends=ends)


def _pass(for_ms: int) -> _Act:
    def act(troubled: Troubled) -> None:
        for _ in range(for_ms // 20):
            troubled.wait(20)
            troubled.turn(2)

    return act


def _set_clock(by_ms: int) -> _Act:
    def act(troubled: Troubled) -> None:
        troubled.world.clock.wall_offset_ms += by_ms

    return act


def _went(*actions: _Act) -> Troubled:
    """Go a way on which nothing but the actions makes time pass, and have all of it committed."""
    troubled = Troubled()
    troubled.world.broker.wait = lambda _: None
    for act in actions:
        act(troubled)
    _pass(REPLICATION_MS - 20)(troubled)
    return troubled


def _lose_redis(troubled: Troubled) -> None:
    """Have it lost, and the partition rebuilt, before any silence can be noticed that was none yet."""
    troubled.hand_over()
    troubled.world.redis.lose_everything()
    _pass(REPLICATION_MS - 20)(troubled)
    assert not troubled.worker.worker.unready()
    assert troubled.worker.worker.assignment.loaded[0].verdict == "behind"
    assert not troubled.worker.worker.assignment.loaded[0].unproven


def _bare(segments: list[Segment]) -> list[tuple[str, int, str, list[str]]]:
    return [(one.session, one.index, one.cause, [word.text for word in one.words]) for one in segments]


_SET_BACK = (_say("ann"), _set_clock(-3_000), _say("ben"), _pass(2_100), _say("cat"), _say("ann", 10, ends=True))
"""By her silence time is beyond what the stamps say, so that the next one counts by what passed; nobody knows that."""


@settings(max_examples=100, deadline=None)
@example([*_SET_BACK, _say("cat", 100)])
@example([_say("cat"), _set_clock(-3_000), _pass(2_000), _say("cat"), _say("ann", 10, ends=True)])
@given(
    st.lists(
        st.one_of(
            st.builds(_say, st.sampled_from(NAMES), st.sampled_from([0, 0, 100, 500, 900])),
            st.builds(_pass, st.sampled_from([40, 200, 600, 2_000])),
            st.builds(_set_clock, st.sampled_from([-3_600_000, -3_000, -700, 700, 3_000, 3_600_000])),
        ),
        min_size=1,
        max_size=25,
    )
)
def test_a_rebuild_publishes_nothing_of_its_own_wherever_clocks_were_set(actions: list[_Act]) -> None:
    troubled = _went(_say("cat"), *actions)
    before = _bare(troubled.world.segments())

    _lose_redis(troubled)
    assert _bare(troubled.world.segments()) == before


@pytest.mark.parametrize("meanwhile", [lambda _: None, _lose_redis], ids=["the same owner", "a rebuild"])
@pytest.mark.parametrize("again", [(), (_say("cat", 100),)], ids=["its last word", "words before it"])
def test_words_before_and_after_a_rebuild_are_one_segment_where_no_silence_lay_between_them(
    meanwhile: _Act, again: tuple[_Act, ...]
) -> None:
    troubled = _went(*_SET_BACK, *again)
    meanwhile(troubled)
    _say("cat", 100)(troubled)
    _pass(3_000)(troubled)
    said = [words for session, _, _, words in _bare(troubled.world.segments()) if session == "cat"]
    assert said == [["cat-0", "cat-1", *(["cat-2"] if again else [])]]


def test_a_silence_is_noticed_though_redis_is_lost_again_and_again_before_it_is_over() -> None:
    troubled = _went(*_SET_BACK)
    for _ in range(2):
        _lose_redis(troubled)
        for _ in range(5):
            _say("ben", 100)(troubled)
            troubled.turn(2)
    assert [words for session, _, _, words in _bare(troubled.world.segments()) if session == "cat"] == [["cat-0"]]
