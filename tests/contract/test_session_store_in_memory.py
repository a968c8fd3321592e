"""The twin agrees with a real Redis whatever is done, and fails in the ways that it is told to."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from caesura.schemas.checkpoint import CheckpointId
from caesura.worker.adapters.memory.session_store import MemoryRedis, MemorySessionStore, StoreFault
from caesura.worker.adapters.redis.settings import RedisSettings
from caesura.worker.errors import StoreError
from caesura.worker.ports.session_store import PreparedSessions, StoreWrite
from tests.harness.parts.redis_part import RedisServer
from tests.harness.session_stores import in_memory, of_settings

NONCE = "0123456789abcdef"
partitions = st.integers(0, 1)
few_sessions = st.sampled_from(["a", "b", "c", "会话"])
few_states = st.dictionaries(few_sessions, st.binary(max_size=8), max_size=3)
names = st.sampled_from(["aa", "bb"])


class InMemoryAndReal(RuleBasedStateMachine):
    """Do the same to both and compare every answer; the ids are drawn so that many writes fit and many do not."""

    url = ""

    @initialize()
    def connect(self) -> None:
        self.twin = in_memory().client()
        self.real = of_settings(RedisSettings.from_url(self.url)).client()
        self.ids = [CheckpointId(1, 0, NONCE)]

    @rule(partition=partitions)
    def head(self, partition: int) -> None:
        assert self.twin.head(partition) == self.real.head(partition)

    @rule(partition=partitions, name=names, put=few_states)
    def prepare(self, partition: int, name: str, put: dict[str, bytes]) -> None:
        self.twin.prepare(partition, name, put)
        self.real.prepare(partition, name, put)

    @rule(
        partition=partitions,
        data=st.data(),
        put=few_states,
        drop=st.lists(few_sessions, max_size=2, unique=True),
        prepared=st.none() | st.builds(PreparedSessions, name=names, sessions=st.integers(0, 2)),
    )
    def write(
        self,
        partition: int,
        data: st.DataObject,
        put: dict[str, bytes],
        drop: list[str],
        prepared: PreparedSessions | None,
    ) -> None:
        made = CheckpointId(1, len(self.ids), NONCE)
        write = StoreWrite(
            follows=data.draw(st.lists(st.sampled_from(self.ids[::-1]), max_size=3)),
            prepared=prepared,
            id=made,
            manifest=str(made).encode(),
            put=put,
            drop=[session for session in drop if session not in put],
        )
        if self.twin.write(partition, write):
            self.ids.append(made)
            assert self.real.write(partition, write)
        else:
            assert not self.real.write(partition, write)

    @rule(partition=partitions)
    def load(self, partition: int) -> None:
        assert sorted(self.twin.load(partition)) == sorted(self.real.load(partition))

    def teardown(self) -> None:
        if hasattr(self, "real"):
            self.real.close()


def test_twin_and_real_redis_give_the_same_answers_to_the_same_calls(redis_server: RedisServer) -> None:
    machine = type("OnThisServer", (InMemoryAndReal,), {"url": redis_server.url})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=60, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


def full_write(n: int = 1) -> StoreWrite:
    none = PreparedSessions(name="none", sessions=0)
    return StoreWrite(prepared=none, id=CheckpointId(1, n, NONCE), manifest=b"m", put={"a": b"1"})


def next_write(n: int) -> StoreWrite:
    follows = [CheckpointId(1, n - 1, NONCE)]
    return StoreWrite(follows=follows, id=CheckpointId(1, n, NONCE), manifest=b"m", put={"b": b"2"})


@pytest.mark.parametrize(
    ("fault", "at_once", "later"), [(StoreFault.LANDS, 1, 1), (StoreFault.LANDS_LATER, 0, 1), (StoreFault.NEVER, 0, 0)]
)
def test_an_unanswered_write_lands_at_once_or_later_or_never(fault: StoreFault, at_once: int, later: int) -> None:
    server = MemoryRedis()
    store = MemorySessionStore(server)
    store.fail_next("write", fault)
    with pytest.raises(StoreError):
        store.write(0, full_write())
    assert len(server.partition(0).sessions) == at_once
    server.land_late()
    assert len(server.partition(0).sessions) == later


def test_a_write_that_lands_after_another_one_changes_nothing() -> None:
    server = MemoryRedis()
    store = MemorySessionStore(server)
    store.write(0, full_write())
    store.fail_next("write", StoreFault.LANDS_LATER)
    with pytest.raises(StoreError):
        store.write(0, next_write(2))
    MemorySessionStore(server).write(0, full_write(3))
    assert server.land_late() == 1
    assert server.partition(0).sessions == {"a": b"1"}


def test_a_write_that_lands_after_everything_was_lost_changes_nothing() -> None:
    server = MemoryRedis()
    store = MemorySessionStore(server)
    store.write(0, full_write())
    store.fail_next("write", StoreFault.LANDS_LATER)
    with pytest.raises(StoreError):
        store.write(0, next_write(2))
    server.lose_everything()
    server.land_late()
    assert server.partition(0).sessions == {}


def test_a_fail_over_brings_an_older_state_back_whole() -> None:
    server = MemoryRedis()
    store = MemorySessionStore(server)
    store.write(0, full_write())
    older = server.copy()
    store.write(0, next_write(2))
    server.fail_over_to(older)
    assert (server.partition(0).id, server.partition(0).sessions) == (b"1.1." + NONCE.encode(), {"a": b"1"})


def test_a_server_that_is_away_answers_no_call_and_takes_none() -> None:
    server = MemoryRedis()
    store = MemorySessionStore(server)
    server.away = True
    for call in (
        lambda: store.head(0),
        lambda: store.write(0, full_write()),
        lambda: store.prepare(0, "aa", {}),
        lambda: list(store.load(0)),
        store.ping,
    ):
        with pytest.raises(StoreError):
            call()
    server.away = False
    assert store.head(0).id is None
