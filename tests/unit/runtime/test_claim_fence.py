"""The token of a claim: no two attempts share one, whatever becomes of Redis between them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from worker.adapters.memory.broker import MemoryBroker
from worker.adapters.memory.session_store import MemoryRedis, MemorySessionStore
from worker.adapters.memory.word_source import MemoryWordSource
from worker.ports.observer import SilentObserver
from worker.runtime.claim_fence import ClaimFence
from worker.runtime.parts import RuntimeParts
from worker.runtime.settings import RuntimeSettings


@pytest.mark.parametrize("lost", [False, True])
def test_a_claim_that_starts_over_has_another_token_also_where_redis_was_lost(*, lost: bool) -> None:
    redis, broker = MemoryRedis(), MemoryBroker()
    broker.create_topic("asr.words")
    source, store = MemoryWordSource(broker, "asr.words"), MemorySessionStore(redis)
    parts = SimpleNamespace(source=source, store=store, observer=SilentObserver(), clock=None, peers=None)
    fence = ClaimFence(0, cast("RuntimeParts", parts), RuntimeSettings())
    tokens = []
    for _ in range(3):
        fence.raise_above_committed()
        tokens.append(fence.token)
        fence.start_over()
        if lost:
            redis.lose_everything()
    assert tokens == [1, 2, 3]
