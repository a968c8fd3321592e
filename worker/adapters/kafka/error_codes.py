"""librdkafka's error codes, grouped by meaning; ``errors`` maps them for each kind of call."""

# ruff: noqa: SLF001 -- librdkafka's own codes begin with an underscore
from __future__ import annotations

from confluent_kafka import KafkaError

PARTITION_END = KafkaError._PARTITION_EOF
"""No error: a consumer with ``enable.partition.eof`` has read all that is there."""

OUT_OF_RANGE = frozenset({KafkaError._AUTO_OFFSET_RESET, KafkaError._LOG_TRUNCATION})
"""A consumer with ``auto.offset.reset=error`` asked for an offset that the partition does not have, or no longer."""

FENCING = frozenset(
    {
        KafkaError._FENCED,
        KafkaError.PRODUCER_FENCED,
        KafkaError.INVALID_PRODUCER_EPOCH,
        KafkaError.FENCED_INSTANCE_ID,
    }
)
"""A newer producer of this id, or a newer static member. A transaction that the broker timed out looks the same."""

GROUP_MOVED_ON = frozenset(
    {
        KafkaError.ILLEGAL_GENERATION,
        KafkaError.UNKNOWN_MEMBER_ID,
        KafkaError.FENCED_MEMBER_EPOCH,
        KafkaError.STALE_MEMBER_EPOCH,
        KafkaError.REBALANCE_IN_PROGRESS,
        KafkaError._ASSIGNMENT_LOST,
    }
)
"""The group has another generation than the one that the transaction's offsets were sent with."""

PASSING = GROUP_MOVED_ON | frozenset(
    {
        KafkaError.BROKER_NOT_AVAILABLE,
        KafkaError.CONCURRENT_TRANSACTIONS,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.ELIGIBLE_LEADERS_NOT_AVAILABLE,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.FETCH_SESSION_ID_NOT_FOUND,
        KafkaError.INCONSISTENT_TOPIC_ID,
        KafkaError.INVALID_FETCH_SESSION_EPOCH,
        KafkaError.KAFKA_STORAGE_ERROR,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.LISTENER_NOT_FOUND,
        KafkaError.MEMBER_ID_REQUIRED,
        KafkaError.NETWORK_EXCEPTION,
        KafkaError.NOT_CONTROLLER,
        KafkaError.NOT_COORDINATOR,
        KafkaError.NOT_ENOUGH_REPLICAS,
        KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.OFFSET_NOT_AVAILABLE,
        KafkaError.OPERATION_NOT_ATTEMPTED,
        KafkaError.PREFERRED_LEADER_NOT_AVAILABLE,
        KafkaError.REBOOTSTRAP_REQUIRED,
        KafkaError.REPLICA_NOT_AVAILABLE,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.STALE_BROKER_EPOCH,
        KafkaError.STALE_CTRL_EPOCH,
        KafkaError.THROTTLING_QUOTA_EXCEEDED,
        KafkaError.TRANSACTION_COORDINATOR_FENCED,
        KafkaError.UNKNOWN_CONTROLLER_ID,
        KafkaError.UNKNOWN_LEADER_EPOCH,
        KafkaError.UNKNOWN_TOPIC_ID,
        KafkaError.UNSTABLE_OFFSET_COMMIT,
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._DESTROY_BROKER,
        KafkaError._INTR,
        KafkaError._IN_PROGRESS,
        KafkaError._ISR_INSUFF,
        KafkaError._MAX_POLL_EXCEEDED,
        KafkaError._MSG_TIMED_OUT,
        KafkaError._NODE_UPDATE,
        KafkaError._NOOP,
        KafkaError._OUTDATED,
        KafkaError._PARTIAL,
        KafkaError._PREV_IN_PROGRESS,
        KafkaError._QUEUE_FULL,
        KafkaError._RESOLVE,
        KafkaError._RETRY,
        KafkaError._STATE,
        KafkaError._TIMED_OUT,
        KafkaError._TIMED_OUT_QUEUE,
        KafkaError._TRANSPORT,
        KafkaError._UNKNOWN_BROKER,
        KafkaError._UNKNOWN_PARTITION,  # a broker that has not heard of a new topic yet says the same
        KafkaError._WAIT_CACHE,
        KafkaError._WAIT_COORD,
    }
)
"""Kafka did not answer in time, or somebody else must act first; the same call may succeed later."""

DENIED = frozenset(
    {
        KafkaError._AUTHENTICATION,
        KafkaError._SSL,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError.UNSUPPORTED_SASL_MECHANISM,
    }
)
"""A broker refused the connection, or we its certificate: settings are wrong, and trying again is no use."""

FORBIDDEN = frozenset(
    {
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    }
)
"""Kafka's ACLs keep us from it. No record is at fault and none may be blamed: the process ends, and says what it is."""

CONTENT = frozenset(
    {
        KafkaError.INVALID_RECORD,
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.RECORD_LIST_TOO_LARGE,
    }
)
"""A broker refused what a record, or its batch, holds: too large, or invalid. Every other refusal is an outage.

A timestamp is the worker's own clock, which no record is to blame for.
"""

INFORMATIONAL = frozenset(
    {
        KafkaError._TRANSPORT,
        KafkaError._TIMED_OUT,
        KafkaError._RESOLVE,
        KafkaError._DESTROY_BROKER,
        KafkaError._NODE_UPDATE,
    }
)
"""Events about one broker connection, which librdkafka fixes by itself; with none left it says _ALL_BROKERS_DOWN."""
