"""Maps every KafkaError to one of worker.errors, by its code (``error_codes``) and librdkafka's own flags.

The meaning of a code depends on the call, so there is a function for each kind of call:

- ``consumer_error``: reading, group, metadata, admin. Fenced, passing, or fatal; an unknown code is fatal.
- ``delivery_error``: a record that was not accepted. The transaction must be aborted, or the producer is unusable.
- ``offsets_error``, ``commit_error``, ``abort_error``, ``init_error``: the producer's transactional calls. For these
  librdkafka's flags (``fatal``, ``txn_requires_abort``, ``retriable``) say more than the code.

No message has a record's bytes: librdkafka's texts name brokers, topics and codes.
"""

# ruff: noqa: SLF001 -- librdkafka's own codes begin with an underscore
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import KafkaError, KafkaException

from caesura.worker.adapters.kafka.error_codes import CONTENT, FENCING, FORBIDDEN, GROUP_MOVED_ON, PASSING
from caesura.worker.errors import (
    AbortableError,
    AwaitedBroker,
    BrokerError,
    BrokerRole,
    CaesuraError,
    ContentRefusedError,
    FatalError,
    FencedError,
    OutcomeUnknownError,
)


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


def delivery_error(error: KafkaError, doing: str, record: tuple[str, int, bytes | None] | None = None) -> CaesuraError:
    """Return what a record that was not taken means inside a transaction. record: its topic, partition and value.

    An error that is fatal to the producer is not to the worker: it cannot abort, and so is replaced.
    """
    if error.code() in FENCING:
        return FencedError(_text(error, doing))
    if _misuse(error) or error.code() in FORBIDDEN:
        return FatalError(_text(error, doing))
    if record is None:
        return AbortableError(_text(error, doing))
    topic, partition, value = record
    if error.code() in CONTENT:
        return ContentRefusedError(_text(error, doing), topic=topic, partition=partition, value=value)
    unanswered = AbortableError(_text(error, doing))
    unanswered.awaits = AwaitedBroker(role=BrokerRole.LEADER, topic=topic, partition=partition)
    return unanswered


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
    """Return what a failed abort means: nobody answered, or more; the producer is given up."""
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
