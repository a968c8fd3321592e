"""What is said of brokers' settings, by the group protocol that the worker uses."""

from __future__ import annotations

from typing import Literal

import pytest

from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.checks.findings import FindingLevel
from caesura.worker.checks.kafka import judge_broker

SESSION = "group.consumer.session.timeout.ms"


def told(protocol: Literal["classic", "consumer"], **options: str) -> list[tuple[FindingLevel, str]]:
    settings = KafkaSettings(bootstrap_servers="127.0.0.1:9", group_protocol=protocol)
    found = judge_broker({name.replace("_", "."): value for name, value in options.items()}, settings)
    return [(one.verdict, one.reason) for one in found]


def test_the_brokers_session_time_out_is_warned_of_where_it_is_the_one_that_counts() -> None:
    ((level, reason),) = told("consumer", group_consumer_session_timeout_ms="45000")
    assert level is FindingLevel.WARNING
    assert f"{SESSION} is 45000" in reason
    assert "kafka.session_timeout_ms has no effect" in reason


@pytest.mark.parametrize(
    ("protocol", "session_ms"), [("consumer", "5000"), ("consumer", "10000"), ("classic", "45000")]
)
def test_a_short_session_time_out_or_the_other_protocol_is_no_finding(
    protocol: Literal["classic", "consumer"], session_ms: str
) -> None:
    assert told(protocol, group_consumer_session_timeout_ms=session_ms) == []


def test_a_broker_that_lacks_the_protocol_is_told_of_as_well() -> None:
    found = told("consumer", group_consumer_session_timeout_ms="45000", group_coordinator_rebalance_protocols="classic")
    assert [level for level, _ in found] == [FindingLevel.BAD, FindingLevel.WARNING]
