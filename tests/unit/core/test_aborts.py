"""Checkpoints that commit and checkpoints that abort: what is committed is what an undisturbed run publishes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.schemas.segments import Segment
from caesura.schemas.state import SessionState
from caesura.worker.core.language.rules import Bounds, DecodingRules, OptionBounds
from tests.harness.partition_driver import NOW_MS, Driver, EventFields, event

HASTY = DecodingRules(
    flush_after_ms=400,
    stall_after_ms=400,
    idle_after_ms=1_000,
    forget_after_ms=1_200,
    max_buffer_words=20,
    bounds=OptionBounds(flush_after_ms=Bounds(least=200, most=1_000)),
)
NAMES = "abc"

Step = tuple[str, int, int, bool]

steps = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(0, 5), st.integers(0, 1_500), st.booleans()), min_size=1, max_size=25
)


class Committing:
    """Feeds a script from where it was last committed; an abort puts everything back, as the runtime does."""

    def __init__(self, script: list[Step], *, lazy: bool) -> None:
        self.script = script
        self.driver = Driver(rules=HASTY, lazy=lazy)
        self.committed: dict[str, SessionState] = {}
        self.published: list[Segment] = []
        self.seqs = dict.fromkeys(NAMES, 0)
        self._mark()

    def _mark(self) -> None:
        self._offset, self._time_ms, self._seqs = self.driver.offset, self.driver.time_ms, dict(self.seqs)

    def feed(self) -> None:
        name, words, after_ms, ends = self.script[self.driver.offset]
        fields: EventFields = {"session": name, "utterance_end": ends}
        self.driver.give(event(self.seqs[name], "one two three four " * words, **fields), after_ms=after_ms)
        self.seqs[name] += 1

    def commit(self) -> None:
        self.driver.work()
        for name, state in self.driver.states(self.driver.sessions.touched).items():
            self.committed.pop(name, None)
            if state is not None:
                self.committed[name] = state
        self.driver.sessions.settle()
        self.published += self.driver.segments
        self.driver.out.clear()
        self._mark()

    def abort(self) -> None:
        for name in list(self.driver.sessions.touched):
            self.driver.sessions.put_back(name, self.committed.get(name))
        self.driver.out.clear()
        self.driver.offset, self.driver.time_ms, self.seqs = self._offset, self._time_ms, dict(self._seqs)


@settings(max_examples=80)
@given(script=steps, ends=st.lists(st.sampled_from(["go on", "commit", "abort"]), max_size=60), lazy=st.booleans())
def test_aborted_checkpoints_leave_no_trace(script: list[Step], ends: list[str], *, lazy: bool) -> None:
    undisturbed = Committing(script, lazy=False)
    for _ in script:
        undisturbed.feed()
    undisturbed.driver.wait(10_000)
    undisturbed.commit()

    disturbed = Committing(script, lazy=lazy)
    for end in ends:
        if disturbed.driver.offset < len(script):
            disturbed.feed()
        if end == "commit":
            disturbed.commit()
        if end == "abort":
            disturbed.abort()
    while disturbed.driver.offset < len(script):
        disturbed.feed()
    disturbed.driver.wait(10_000)
    disturbed.commit()

    for name in NAMES:
        assert [one for one in disturbed.published if one.session == name] == [
            one for one in undisturbed.published if one.session == name
        ]
    assert disturbed.committed == undisturbed.committed == {}
    assert disturbed.driver.time_ms > NOW_MS
