"""Every code that librdkafka has means something to us, in every place where it may turn up."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from confluent_kafka import KafkaError, KafkaException

from caesura.worker.adapters.kafka.error_codes import (
    CONTENT,
    DENIED,
    FENCING,
    FORBIDDEN,
    GROUP_MOVED_ON,
    INFORMATIONAL,
    PASSING,
)
from caesura.worker.adapters.kafka.errors import (
    abort_error,
    commit_error,
    consumer_error,
    consuming,
    delivery_error,
    error_of,
    init_error,
    offsets_error,
)
from caesura.worker.errors import (
    AbortableError,
    BrokerError,
    CaesuraError,
    ContentRefusedError,
    FatalError,
    FencedError,
    OutcomeUnknownError,
)

CODES = {
    name: code
    for name in dir(KafkaError)
    if name.lstrip("_").isupper() and name != "NO_ERROR" and isinstance(code := getattr(KafkaError, name), int)
}


def commit_in_time(error: KafkaError) -> CaesuraError:
    return commit_error(error, may_have_timed_out=False)


def commit_too_late(error: KafkaError) -> CaesuraError:
    return commit_error(error, may_have_timed_out=True)


def reading(error: KafkaError) -> CaesuraError:
    return consumer_error(error, "reading")


def publishing(error: KafkaError) -> CaesuraError:
    return delivery_error(error, "publishing")


ALLOWED: dict[Callable[[KafkaError], CaesuraError], set[type[CaesuraError]]] = {
    reading: {BrokerError, FencedError, FatalError},
    publishing: {AbortableError, FencedError, FatalError},
    offsets_error: {BrokerError, AbortableError, FencedError, FatalError},
    commit_in_time: {BrokerError, AbortableError, OutcomeUnknownError, FencedError, FatalError},
    commit_too_late: {BrokerError, AbortableError, OutcomeUnknownError, FatalError},
    abort_error: {BrokerError, OutcomeUnknownError, FatalError},
    init_error: {BrokerError, FencedError, FatalError},
}


def an_error(code: int, *, fatal: bool = False, retriable: bool = False, abort: bool = False) -> KafkaError:
    return KafkaError(code, "why", fatal, retriable, abort)


FLAGS = ((False, False, False), (True, False, False), (False, True, False), (False, False, True))


@pytest.mark.parametrize("mapping", ALLOWED, ids=lambda mapping: mapping.__name__)
def test_every_code_becomes_an_error_that_its_port_promises(mapping: Callable[[KafkaError], CaesuraError]) -> None:
    for (name, code), (fatal, retriable, abort) in product(CODES.items(), FLAGS):
        error = mapping(an_error(code, fatal=fatal, retriable=retriable, abort=abort))
        assert type(error) in ALLOWED[mapping], name
        assert name in str(error)


def test_no_list_names_a_code_that_another_contradicts() -> None:
    assert not FENCING & PASSING
    assert GROUP_MOVED_ON <= PASSING
    assert INFORMATIONAL <= PASSING
    assert not DENIED & PASSING


@pytest.mark.parametrize("code", sorted(FENCING))
def test_a_fence_is_never_taken_for_something_that_passes(code: int) -> None:
    for mapping in ALLOWED:
        assert not isinstance(mapping(an_error(code, retriable=True)), BrokerError)


@pytest.mark.parametrize("code", sorted(FENCING))
def test_a_fence_in_a_commit_is_a_newer_producer_unless_it_timed_out(code: int) -> None:
    assert isinstance(commit_in_time(an_error(code, fatal=True)), FencedError)
    assert isinstance(commit_too_late(an_error(code, fatal=True)), OutcomeUnknownError)


def test_a_fatal_error_of_a_commit_is_never_called_again() -> None:
    for name, code in CODES.items():
        assert isinstance(commit_in_time(an_error(code, fatal=True)), FencedError | OutcomeUnknownError), name


@pytest.mark.parametrize("code", sorted(GROUP_MOVED_ON))
def test_offsets_of_an_older_generation_are_fenced(code: int) -> None:
    assert isinstance(offsets_error(an_error(code, abort=True)), FencedError)


def test_a_commit_that_may_be_called_again_is_not_aborted() -> None:
    timed_out = an_error(KafkaError._TIMED_OUT, retriable=True)
    assert isinstance(commit_in_time(timed_out), BrokerError)


def test_a_call_out_of_turn_is_fatal_and_not_called_again_for_ever() -> None:
    out_of_turn = an_error(KafkaError._STATE)
    for mapping in (offsets_error, commit_in_time, abort_error, init_error, publishing):
        assert isinstance(mapping(out_of_turn), FatalError)


def test_an_unlisted_error_code_is_fatal_for_a_reader() -> None:
    assert isinstance(reading(an_error(KafkaError.TOPIC_AUTHORIZATION_FAILED)), FatalError)


@pytest.mark.parametrize("code", sorted(FORBIDDEN))
def test_what_acls_deny_is_no_records_fault(code: int) -> None:
    for mapping in (reading, publishing, offsets_error, commit_in_time, commit_too_late):
        assert isinstance(mapping(an_error(code, abort=True)), FatalError)


def test_a_fence_inside_a_consumers_fatal_event_is_seen() -> None:
    cause = KafkaError(KafkaError.FENCED_INSTANCE_ID).str()
    assert isinstance(reading(KafkaError(KafkaError._FATAL, f"Fatal error: {cause}: details")), FencedError)
    assert isinstance(reading(KafkaError(KafkaError._FATAL, "Fatal error: something else")), FatalError)


def test_binding_errors_are_mapped_with_their_cause() -> None:
    foreign = KafkaException(an_error(KafkaError._TIMED_OUT))
    with pytest.raises(BrokerError, match="asking: _TIMED_OUT") as mapped, consuming("asking"):
        raise foreign
    assert mapped.value.__cause__ is foreign


def test_a_client_that_was_closed_is_fatal() -> None:
    with pytest.raises(FatalError, match="asking"), consuming("asking"):
        raise RuntimeError("Consumer closed")


def test_an_exception_without_a_kafka_error_still_has_one() -> None:
    assert error_of(KafkaException("plain text")).code() == KafkaError._FAIL


@pytest.mark.parametrize("name", sorted(CODES))
def test_a_producer_that_is_done_for_is_replaced_and_ends_no_worker(name: str) -> None:
    for mapping in (publishing, offsets_error):
        ends = isinstance(mapping(an_error(CODES[name], fatal=True)), FatalError)
        assert ends == (CODES[name] in FORBIDDEN), name
    assert isinstance(abort_error(an_error(CODES[name], fatal=True)), OutcomeUnknownError)


def test_a_clock_that_a_broker_refuses_blames_no_record() -> None:
    error = delivery_error(KafkaError(KafkaError.INVALID_TIMESTAMP), "publishing", ("out", 3, b"ann"))
    assert type(error) is AbortableError


@pytest.mark.parametrize("name", sorted(CODES))
def test_only_a_refusal_of_content_blames_a_record(name: str) -> None:
    refused = delivery_error(KafkaError(CODES[name]), "publishing", ("out", 3, b"ann"))
    assert isinstance(refused, ContentRefusedError) == (CODES[name] in CONTENT)
    assert not isinstance(publishing(KafkaError(CODES[name])), ContentRefusedError)
