"""A short form of ``make chaos``: the runner itself works, and a few faults of every area change nothing."""

from __future__ import annotations

import pytest

from caesura.worker.embedded.embedded_redis import find_redis_server
from tests.chaos.plan import Plan
from tests.chaos.runner import run
from tests.harness.parts.kafka_broker import require_jars
from tests.harness.parts.lookup import missing

pytestmark = [pytest.mark.kafka, pytest.mark.redis, pytest.mark.timeout(900)]


@pytest.mark.parametrize(("protocol", "redis", "seed"), [("classic", "pair", 5), ("consumer", "cluster", 6)])
def test_six_faults_change_no_output(protocol: str, redis: str, seed: int) -> None:
    require_jars("three brokers of our own")
    if find_redis_server() is None:
        missing("no redis-server on this machine to mistreat")
    report = run(Plan(seed=seed, faults=6, protocol=protocol, redis=redis, events_a_s=25.0))
    assert report.complaints == []
    assert report.violations == []
    assert len(report.strikes) == 6
    assert report.words > 0
