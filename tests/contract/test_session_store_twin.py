"""The twin agrees with a real Redis whatever is done, and fails in the ways that it is told to."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from schemas.checkpoint import CheckpointId
from tests.harness.parts.redis_part import RedisServer
from tests.harness.session_stores import in_memory, of_settings
from worker.adapters.memory.session_store import MemoryRedis, MemorySessionStore, StoreFault
from worker.adapters.redis.settings import RedisSettings
from worker.errors import StoreError
from worker.ports.session_store import StoreWrite

NONCE = "0123456789abcdef"
partitions = st.integers(0, 1)
few_sessions = st.sampled_from(["a", "b", "c", "会话"])


class TwinAndReal(RuleBasedStateMachine):
    """Do the same to both and compare every answer; the ids are drawn so that many writes fit and many do not."""

    url = ""

    @initialize()
    def connect(self) -> None:
        self.twin = in_memory().client()
        self.real = of_settings(RedisSettings.from_url(self.url)).client()
        self.tokens = [1]
        self.ids: list[CheckpointId | None] = [None]

    @rule(partition=partitions, above=st.integers(0, 5))
    def claim(self, partition: int, above: int) -> None:
        claimed = self.twin.claim(partition, above)
        assert claimed == self.real.claim(partition, above)
        self.tokens.append(claimed.token)

    @rule(
        partition=partitions,
        data=st.data(),
        put=st.dictionaries(few_sessions, st.binary(max_size=8), max_size=3),
        drop=st.lists(few_sessions, max_size=2, unique=True),
    )
    def write(self, partition: int, data: st.DataObject, put: dict[str, bytes], drop: list[str]) -> None:
        token = data.draw(st.sampled_from(self.tokens[::-1]))
        made = CheckpointId(token, len(self.ids), NONCE)
        write = StoreWrite(
            token=token,
            follows=data.draw(st.sampled_from(self.ids[::-1])),
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
    machine = type("OnThisServer", (TwinAndReal,), {"url": redis_server.url})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=60, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


def first_write(token: int) -> StoreWrite:
    return StoreWrite(token=token, follows=None, id=CheckpointId(token, 1, NONCE), manifest=b"m", put={"a": b"1"})


@pytest.mark.parametrize(
    ("fault", "at_once", "later"), [(StoreFault.LANDS, 1, 1), (StoreFault.LANDS_LATER, 0, 1), (StoreFault.NEVER, 0, 0)]
)
def test_an_unanswered_write_lands_at_once_or_later_or_never(fault: StoreFault, at_once: int, later: int) -> None:
    server = MemoryRedis()
    store = MemorySessionStore(server)
    token = store.claim(0, 0).token
    store.fail_next("write", fault)
    with pytest.raises(StoreError):
        store.write(0, first_write(token))
    assert len(server.partition(0).sessions) == at_once
    server.land_late()
    assert len(server.partition(0).sessions) == later


def test_a_write_that_lands_after_anothers_claim_changes_nothing() -> None:
    server = MemoryRedis()
    store = MemorySessionStore(server)
    store.fail_next("write", StoreFault.LANDS_LATER)
    with pytest.raises(StoreError):
        store.write(0, first_write(store.claim(0, 0).token))
    MemorySessionStore(server).claim(0, 0)
    assert server.land_late() == 1
    assert server.partition(0).sessions == {}


def test_a_write_that_lands_after_everything_was_lost_changes_nothing() -> None:
    server = MemoryRedis()
    store = MemorySessionStore(server)
    store.fail_next("write", StoreFault.LANDS_LATER)
    with pytest.raises(StoreError):
        store.write(0, first_write(store.claim(0, 0).token))
    server.lose_everything()
    server.land_late()
    assert server.partition(0).sessions == {}


def test_a_fail_over_brings_an_older_state_back_whole() -> None:
    server = MemoryRedis()
    store = MemorySessionStore(server)
    token = store.claim(0, 0).token
    older = server.copy()
    store.write(0, first_write(token))
    server.fail_over_to(older)
    assert (server.partition(0).token, server.partition(0).id, server.partition(0).sessions) == (token, None, {})


def test_a_server_that_is_away_answers_no_call_and_takes_none() -> None:
    server = MemoryRedis()
    store = MemorySessionStore(server)
    token = store.claim(0, 0).token
    server.away = True
    for call in (lambda: store.claim(0, 0), lambda: store.write(0, first_write(token)), lambda: list(store.load(0))):
        with pytest.raises(StoreError):
            call()
    with pytest.raises(StoreError):
        store.ping()
    server.away = False
    assert store.claim(0, 0).token == token + 1
