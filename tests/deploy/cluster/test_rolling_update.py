"""The chart on the real control plane, its pods real workers on a real Kafka and Redis: a roll-out in mid-stream."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from caesura.worker.adapters.redis.settings import RedisSettings
from tests.deploy.cluster.control_plane import ControlPlane
from tests.deploy.cluster.kubelet import Kubelet
from tests.deploy.cluster.release import Release
from tests.harness.parts.kafka_part import Kafka
from tests.harness.real_world import RealWorld
from tests.harness.speech import check_every_word_once, speech

_WORKERS = 3


@pytest.fixture
def world(kafka: Kafka, redis_url: str, deployment: str) -> RealWorld:
    """One partition: of several workers all but one have nothing to do."""
    return RealWorld(kafka, redis_url, deployment, partitions=1)


@pytest.fixture
def release(cluster: ControlPlane, namespace: str) -> Release:
    return Release(cluster, namespace)


@pytest.fixture
def kubelet(release: Release, tmp_path: Path) -> Iterator[Kubelet]:
    made = Kubelet(release, tmp_path)
    yield made
    made.close()


def _values(world: RealWorld) -> dict[str, Any]:
    address = RedisSettings.from_url(world.redis_url)
    return {
        "image": {"tag": "real"},
        "replicas": _WORKERS,
        "minReadySeconds": 0,
        "check": {"enabled": False},
        "settings": {
            "worker": {
                "deployment": world.deployment,
                "input_topic": world.words_topic,
                "segment_topic": world.segments_topic,
                "dead_letter_topic": world.dead_topic,
            },
            "kafka": {"bootstrap_servers": world.kafka.bootstrap},
            "redis": {"addresses": list(address.addresses), "database": address.database},
            "decoding": {"flush_after_ms": 240_000, "stall_after_ms": 240_000},
        },
    }


@pytest.mark.timeout(480)
def test_a_roll_out_passes_spare_pods_and_loses_no_word(world: RealWorld, release: Release, kubelet: Kubelet) -> None:
    values = _values(world)
    release.install(values, wait=False)
    kubelet.turn_until(
        lambda: release.ready() == _WORKERS, "the worker with the partition and the spare ones are ready"
    )
    events = speech("ann", 60)
    events[3] = msgspec.structs.replace(events[3], utterance_end=True)
    world.send(*events[:8])
    kubelet.turn_until(lambda: len(world.segments()) > 0, "words come out")
    before = release.identities()
    release.upgrade(values, {"settings": {"worker": {"commit_interval_ms": 50}}}, wait=False)
    kubelet.turn_until(lambda: release.rolled_out() and release.ready() == _WORKERS, "all pods are replaced")
    assert not set(before.values()) & set(release.identities().values())
    world.send(*events[8:])
    kubelet.turn_until(lambda: any(one.session_end for one in world.segments()), "the session's end comes out")
    check_every_word_once(events, world.segments())
    assert kubelet.stopped == [0] * _WORKERS, "each drained within its grace period"
