"""A peer that died with a transaction open: the new owner ends it, on a real Kafka and Redis."""

from __future__ import annotations

from caesura.worker.ports.commit_steps import CommitStep
from caesura.worker.ports.observer import TookOver
from tests.harness.heard import Heard
from tests.harness.parts.kafka_part import Kafka
from tests.harness.real_world import Kill, RealWorld
from tests.harness.speech import check_every_word_once, speech


def test_a_new_owner_ends_the_transaction_of_a_dead_peer_and_goes_on(
    kafka: Kafka, redis_url: str, deployment: str
) -> None:
    # Left alone, the broker would hold the transaction open, and the partition up, for ten minutes.
    world = RealWorld(kafka, redis_url, deployment, partitions=1, kafka_changes={"transaction_timeout_ms": 600_000})
    events = speech("ann", 30)
    world.send(*events[:4])
    with world.process(0, kill=Kill(at=CommitStep.OFFSETS_SENT, passes=1)) as dying:
        dying.wait()
    world.send(*events[4:])
    heard = Heard(TookOver)
    worker = world.worker(1, observer=heard, takeover_after_ms=1_000)
    worker.turn_until(lambda: any(one.session_end for one in world.segments()), timeout_s=60.0)
    worker.worker.drain()
    assert [one.transactional_id for one in heard.events] == [f"{deployment}-0"]
    check_every_word_once(events, world.segments())
