"""A ledger whose cleaner has really run: what it left is enough to rebuild every session, and nothing comes twice."""

from __future__ import annotations

import pytest
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from caesura.schemas.events import WordsEvent
from caesura.worker.runtime.ledger.output_records import is_probe
from tests.harness.heard import Rebuilds
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.redis_part import RedisServer
from tests.harness.real_world import UNHURRIED, RealWorld
from tests.harness.speech import check_every_word_once, event
from tests.harness.waiting import wait_until

pytestmark = pytest.mark.timeout(400)

_CLEANED_WITHIN_S = 120.0
"""The cleaner looks for work every 15 seconds."""
_NAMES = tuple(f"ann-{number}" for number in range(12))
_QUICK = {
    "segment.ms": "1000",
    "min.cleanable.dirty.ratio": "0.01",
    "min.compaction.lag.ms": "0",
    "max.compaction.lag.ms": "1000",
}


def test_sessions_come_back_from_a_ledger_that_was_compacted(
    kafka: Kafka, redis_server: RedisServer, deployment: str
) -> None:
    world = RealWorld(kafka, redis_server.url, deployment, partitions=1, rules=UNHURRIED)
    _set(kafka, f"{deployment}.ledger", _QUICK)
    heard = Rebuilds()
    worker = world.worker(observer=heard)
    said: list[WordsEvent] = []

    def say(*, end: bool = False) -> None:
        seq = len(said) // len(_NAMES)
        told = [event(name, seq, f"{name}-{seq}", utterance_end=seq % 3 < 2, session_end=end) for name in _NAMES]
        said.extend(told)
        world.send(*told)
        worker.turn_until(lambda: worker.caught_up)

    def say_on() -> None:
        say()
        worker.turn_for(0.5)

    gone = wait_until(
        lambda: _offsets_that_are_gone(world),
        "the cleaner never ran",
        within_s=_CLEANED_WITHIN_S,
        every_s=0,
        meanwhile=say_on,
    )
    redis_server.flush()
    say()
    say(end=True)
    worker.worker.drain()
    assert len(gone) > len(_NAMES)
    assert heard.summaries[0].sessions == len(_NAMES)
    assert heard.summaries[0].lost_sessions == 0
    check_every_word_once(said, world.segments())


def _offsets_that_are_gone(world: RealWorld) -> set[int]:
    """Return the offsets below the first record of the ledger's end segment that held records once: not markers."""
    records = [one for one in world.records(f"{world.deployment}.ledger") if not is_probe(one)]
    kept = {one.offset for one in records}
    by_key: dict[bytes | None, int] = {}
    for one in records:
        by_key[one.key] = by_key.get(one.key, 0) + 1
    first = min(kept, default=0)
    return set(range(first)) if first > len(by_key) else set()


def _set(kafka: Kafka, topic: str, options: dict[str, str]) -> None:
    entries = [ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET) for name, value in options.items()]
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
    for future in kafka.admin.incremental_alter_configs([resource]).values():
        future.result(30)
