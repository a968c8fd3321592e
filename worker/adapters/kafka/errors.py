"""Where every KafkaError becomes one of worker.errors; nothing else in the adapters looks at an error's code.

What a code means depends on who hears it, so there is one function a listener:

- ``consumer_error``: reading, group, metadata, admin. Fenced, passing, or fatal; a code that is in no list is fatal.
- ``delivery_error``: a record that was not taken. The transaction must go, unless the producer itself is done for.
- ``offsets_error``, ``commit_error``, ``abort_error``, ``init_error``: the producer's transactional calls. There
  librdkafka's own flags (``fatal``, ``txn_requires_abort``, ``retriable``) say more than the code.

No message carries a record's bytes: librdkafka's texts name brokers, topics and codes.
"""

# ruff: noqa: SLF001 -- librdkafka's own codes begin with an underscore
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import KafkaError, KafkaException

from worker.errors import (
    AbortableError,
    BrokerError,
    CaesuraError,
    FatalError,
    FencedError,
    OutcomeUnknownError,
)

__all__ = [
    "DENIED",
    "FENCING",
    "FORBIDDEN",
    "GROUP_MOVED_ON",
    "INFORMATIONAL",
    "PASSING",
    "abort_error",
    "commit_error",
    "consumer_error",
    "consuming",
    "delivery_error",
    "error_of",
    "init_error",
    "offsets_error",
]

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


def error_of(exception: BaseException) -> KafkaError:
    """Return the KafkaError that an exception of the binding carries; _FAIL with its text where it carries none."""
    if exception.args and isinstance(exception.args[0], KafkaError):
        return exception.args[0]
    return KafkaError(KafkaError._FAIL, str(exception))


def _text(error: KafkaError, doing: str) -> str:
    return f"{doing}: {error.name()}: {error.str()}"


def _fatal_fence(error: KafkaError) -> bool:
    """Whether a consumer's fatal event is a fence: the event's own code says only _FATAL, its text names the cause."""
    causes = (KafkaError(code).str() for code in FENCING)
    return error.code() == KafkaError._FATAL and any(error.str().startswith(f"Fatal error: {why}") for why in causes)


def consumer_error(error: KafkaError, doing: str) -> CaesuraError:
    """Return what a fault outside of a transaction means; ``doing`` says what was tried."""
    if error.code() in FENCING or _fatal_fence(error):
        return FencedError(_text(error, doing))
    if not error.fatal() and (error.code() in PASSING or error.retriable()):
        return BrokerError(_text(error, doing))
    return FatalError(_text(error, doing))


@contextmanager
def consuming(doing: str) -> Iterator[None]:
    """Map what the binding raises inside to ``consumer_error``; use after close is FatalError."""
    try:
        yield
    except KafkaException as exception:
        raise consumer_error(error_of(exception), doing) from exception
    except TimeoutError as exception:  # a future of the administrator's
        raise BrokerError(f"{doing}: nobody answered") from exception
    except RuntimeError as exception:  # the binding's word for a client that was closed
        raise FatalError(f"{doing}: {exception}") from exception


def delivery_error(error: KafkaError, doing: str) -> CaesuraError:
    """Return what a record that was not taken means inside a transaction."""
    if error.code() in FENCING:
        return FencedError(_text(error, doing))
    if error.fatal() or _misuse(error) or error.code() in FORBIDDEN:
        return FatalError(_text(error, doing))
    return AbortableError(_text(error, doing))


def _misuse(error: KafkaError) -> bool:
    """Whether a transactional call came out of turn; with no transaction to abort or retry, calling again is no use."""
    return error.code() == KafkaError._STATE and not (error.txn_requires_abort() or error.retriable() or error.fatal())


def offsets_error(error: KafkaError) -> CaesuraError:
    """Return what a refused or unanswered send of offsets means. Nothing is committed by it either way."""
    doing = "sending offsets into the transaction"
    if _misuse(error) or error.code() in FORBIDDEN:
        return FatalError(_text(error, doing))
    if error.code() in FENCING or error.code() in GROUP_MOVED_ON:
        return FencedError(_text(error, doing))
    if error.txn_requires_abort() or error.fatal():
        return AbortableError(_text(error, doing))
    if error.retriable() or error.code() in PASSING:
        return BrokerError(_text(error, doing))
    return AbortableError(_text(error, doing))


def commit_error(error: KafkaError, *, may_have_timed_out: bool) -> CaesuraError:
    """Return what a failed commit means.

    may_have_timed_out: the transaction is older than its time-out, so that the broker itself may have ended it, which
    looks like a fence (librdkafka maps both to _FENCED). A younger one can only have been fenced by a newer producer.
    """
    doing = "committing the transaction"
    if _misuse(error):
        return FatalError(_text(error, doing))
    if error.fatal() or error.code() in FENCING:
        if error.code() in FENCING and not may_have_timed_out:
            return FencedError(_text(error, doing))
        return OutcomeUnknownError(_text(error, doing))
    if error.txn_requires_abort():
        kind = FatalError if error.code() in FORBIDDEN else AbortableError
        return kind(_text(error, doing))
    if error.retriable() or error.code() in PASSING:
        return BrokerError(_text(error, doing))
    return OutcomeUnknownError(_text(error, doing))


def abort_error(error: KafkaError) -> CaesuraError:
    """Return what a failed abort means: call again, or give the producer up."""
    doing = "aborting the transaction"
    if _misuse(error):
        return FatalError(_text(error, doing))
    if not error.fatal() and error.code() not in FENCING and (error.retriable() or error.code() in PASSING):
        return BrokerError(_text(error, doing))
    return OutcomeUnknownError(_text(error, doing))


def init_error(error: KafkaError) -> CaesuraError:
    """Return what a failed ``init_transactions`` means."""
    doing = "taking over the transactional id"
    if error.code() in FENCING:
        return FencedError(_text(error, doing))
    if not error.fatal() and not _misuse(error) and (error.retriable() or error.code() in PASSING):
        return BrokerError(_text(error, doing))
    return FatalError(_text(error, doing))
