"""Which topics a deployment wants, and what is said of those it finds."""

from __future__ import annotations

from typing import Literal

import pytest

from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.topics import FoundTopic, WantedTopic
from caesura.worker.checks.findings import FindingLevel
from caesura.worker.checks.kafka import denied, judge_broker
from caesura.worker.checks.topic_plan import differing, judge, retention_of, wanted_topics
from caesura.worker.runtime.settings.settings import Route, RuntimeSettings

SETTINGS = RuntimeSettings(routes=(Route(target="de", topic="translate.de"),))


def wanted(name: str) -> WantedTopic:
    topics = {topic.name: topic for topic in wanted_topics(SETTINGS, partitions=6)}
    return topics[name]


def found(name: str, partitions: int = 6, replication: int = 3, **changed: str) -> FoundTopic:
    options = dict(wanted(name).options) | {"min.insync.replicas": "2"}
    return FoundTopic(
        name=name,
        partitions=partitions,
        replication=replication,
        options=options | {option.replace("_", "."): value for option, value in changed.items()},
    )


def verdicts(name: str, topic: FoundTopic | None) -> list[tuple[FindingLevel, str]]:
    return [(finding.verdict, finding.reason) for finding in judge(wanted(name), topic)]


def test_every_topic_has_the_inputs_partitions() -> None:
    topics = wanted_topics(SETTINGS, partitions=6)
    assert [topic.name for topic in topics] == [
        "asr.words",
        "asr.segments",
        "translate.de",
        "asr.words.dead",
        "caesura.ledger",
        "caesura.claims",
    ]
    assert {topic.partitions for topic in topics} == {6}


def test_time_is_the_brokers_on_the_input() -> None:
    assert wanted("asr.words").options["message.timestamp.type"] == "LogAppendTime"


def test_a_dead_letter_has_room_for_the_largest_event() -> None:
    assert int(wanted("asr.words.dead").options["max.message.bytes"]) > int(
        wanted("asr.words").options["max.message.bytes"]
    )


def test_the_ledger_is_compacted_and_kept_short() -> None:
    options = wanted("caesura.ledger").options
    assert (options["cleanup.policy"], options["segment.ms"], options["max.compaction.lag.ms"]) == (
        "compact",
        "600000",
        "3600000",
    )


@pytest.mark.parametrize(
    "name", ["asr.words", "asr.segments", "translate.de", "asr.words.dead", "caesura.ledger", "caesura.claims"]
)
def test_a_topic_as_it_was_made_is_good(name: str) -> None:
    assert [verdict for verdict, _ in verdicts(name, found(name))] == [FindingLevel.GOOD]
    assert differing(wanted(name), found(name)) == {}


@pytest.mark.parametrize(
    ("name", "topic", "reason"),
    [
        ("asr.words", None, "caesura topics create"),
        ("asr.words", found("asr.words", message_timestamp_type="CreateTime"), "message.timestamp.type is CreateTime"),
        ("asr.segments", found("asr.segments", partitions=5), "5 partitions"),
        ("asr.words.dead", found("asr.words.dead", max_message_bytes="1048576"), "max.message.bytes"),
        ("caesura.ledger", found("caesura.ledger", cleanup_policy="delete"), "cleanup.policy is delete"),
        ("caesura.ledger", found("caesura.ledger", segment_ms="604800000"), "segment.ms"),
        ("caesura.ledger", found("caesura.ledger", min_cleanable_dirty_ratio="0.5"), "min.cleanable.dirty.ratio"),
    ],
)
def test_a_topic_that_breaks_a_promise_is_bad_with_its_reason(name: str, topic: FoundTopic | None, reason: str) -> None:
    bad = [told for verdict, told in verdicts(name, topic) if verdict is FindingLevel.BAD]
    assert len(bad) == 1
    assert reason in bad[0]


def test_a_ledger_kept_shorter_still_is_good() -> None:
    assert differing(wanted("caesura.ledger"), found("caesura.ledger", segment_ms="1000")) == {}


@pytest.mark.parametrize(
    ("input_ms", "found_ms", "good"),
    [
        ("604800000", "604800000", True),
        ("604800000", "86400000", False),
        ("3600000", "86400000", True),
        ("-1", "86400000", False),
        ("-1", "315360000000", True),
    ],
)
def test_a_tombstone_stays_as_long_as_the_input(input_ms: str, found_ms: str, good: bool) -> None:
    retention_ms = retention_of(found("asr.words", retention_ms=input_ms), otherwise_ms=0)
    ledger = {one.name: one for one in wanted_topics(SETTINGS, partitions=6, retention_ms=retention_ms)}[
        "caesura.ledger"
    ]
    told = differing(ledger, found("caesura.ledger", delete_retention_ms=found_ms))
    assert (told == {}) is good


@pytest.mark.parametrize(
    ("found_ms", "told"),
    [
        ("1209600000", []),
        ("604800000", [FindingLevel.WARNING]),
        ("86400000", [FindingLevel.BAD]),
    ],
)
def test_a_tombstone_outlives_records_that_outlive_their_retention(found_ms: str, told: list[FindingLevel]) -> None:
    said = verdicts("caesura.ledger", found("caesura.ledger", delete_retention_ms=found_ms))
    assert [verdict for verdict, reason in said if "delete.retention.ms" in reason] == told


def test_an_input_that_is_not_deleted_by_age_is_kept_for_ever() -> None:
    compacted = found("asr.words", cleanup_policy="compact", retention_ms="1000")
    assert retention_of(compacted, otherwise_ms=0) == -1
    assert retention_of(FoundTopic(name="x", partitions=1, replication=1, options={}), otherwise_ms=5) == 5


def test_retention_is_the_operators_business() -> None:
    assert differing(wanted("asr.segments"), found("asr.segments", retention_ms="1000")) == {}


def test_one_copy_is_a_warning() -> None:
    assert [verdict for verdict, _ in verdicts("asr.words", found("asr.words", replication=1))] == [
        FindingLevel.WARNING
    ]


@pytest.mark.parametrize(
    ("options", "settings", "expected"),
    [
        ({}, {}, []),
        ({"transaction.max.timeout.ms": "900000", "group.min.session.timeout.ms": "6000"}, {}, []),
        ({"transaction.max.timeout.ms": "5000"}, {}, [FindingLevel.BAD]),
        ({"transaction.abort.timed.out.transaction.cleanup.interval.ms": "10000"}, {}, [FindingLevel.WARNING]),
        ({"group.min.session.timeout.ms": "30000"}, {}, [FindingLevel.BAD]),
        ({"group.min.session.timeout.ms": "30000"}, {"group_protocol": "consumer"}, []),
        ({"group.coordinator.rebalance.protocols": "classic"}, {"group_protocol": "consumer"}, [FindingLevel.BAD]),
        ({"group.coordinator.rebalance.protocols": "classic,consumer"}, {"group_protocol": "consumer"}, []),
    ],
)
def test_a_brokers_settings_are_held_against_ours(
    options: dict[str, str], settings: dict[str, str], expected: list[FindingLevel]
) -> None:
    ours = KafkaSettings(bootstrap_servers="broker:9092", **settings)  # type: ignore[arg-type]
    assert [finding.verdict for finding in judge_broker(options, ours)] == expected


SESSION = "group.consumer.session.timeout.ms"


def told(protocol: Literal["classic", "consumer"], **options: str) -> list[tuple[FindingLevel, str]]:
    settings = KafkaSettings(bootstrap_servers="127.0.0.1:9", group_protocol=protocol)
    found = judge_broker({name.replace("_", "."): value for name, value in options.items()}, settings)
    return [(one.verdict, one.reason) for one in found]


def test_the_brokers_session_time_out_is_warned_of_where_it_counts() -> None:
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


@pytest.mark.parametrize(
    ("topic", "forbidden", "told"),
    [
        ("asr.words", (True, True), "topic asr.words: this user may not read it"),
        ("asr.words", (False, True), None),
        ("asr.segments", (True, False), None),
        ("asr.segments", (True, True), "topic asr.segments: this user may not write to it"),
        ("asr.words.dead", (False, True), "topic asr.words.dead: this user may not write to it"),
        ("caesura.ledger", (True, False), "topic caesura.ledger: this user may not read it"),
        ("caesura.ledger", (True, True), "topic caesura.ledger: this user may not read it nor write to it"),
        ("caesura.ledger", (False, False), None),
    ],
)
def test_a_topic_is_named_with_what_the_worker_needs_and_may_not_do(
    topic: str, forbidden: tuple[bool, bool], told: str | None
) -> None:
    worker = RuntimeSettings()
    findings = denied({topic: forbidden}, reads=worker.read_topics, writes=worker.output_topics)
    found = [f"{one.subject}: {one.reason}" for one in findings]
    assert found == ([] if told is None else [f"{told} (docs/security.md)"])
