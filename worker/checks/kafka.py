"""Checks whether a Kafka can keep the promises: whether it answers, and how its brokers are set."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from caesura.worker.adapters.kafka.reachability import await_sign_of_life
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.topics import KafkaTopics
from caesura.worker.checks.findings import Finding, FindingLevel
from caesura.worker.errors import CaesuraError

_CLEANUP = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
_MAX_TRANSACTION = "transaction.max.timeout.ms"
_SHORTEST_SESSION, _LONGEST_SESSION = "group.min.session.timeout.ms", "group.max.session.timeout.ms"
_PROTOCOLS = "group.coordinator.rebalance.protocols"
_CONSUMER_SESSION = "group.consumer.session.timeout.ms"
_LOOKED_AT = (_CLEANUP, _MAX_TRANSACTION, _SHORTEST_SESSION, _LONGEST_SESSION, _PROTOCOLS, _CONSUMER_SESSION)
_LONG_CLEANUP_MS = 5_000
_LONG_SESSION_MS = 10_000


def check_brokers(admin: KafkaTopics, settings: KafkaSettings) -> list[Finding]:
    """Return what was found; never raises for brokers that are away or refuse."""
    try:
        await_sign_of_life(settings)
        brokers = admin.brokers()
    except CaesuraError as error:
        return [Finding(subject="brokers", verdict=FindingLevel.BAD, reason=str(error))]
    if not brokers:
        return [Finding(subject="brokers", verdict=FindingLevel.BAD, reason="none is known")]
    found = [Finding(subject="brokers", verdict=FindingLevel.GOOD, reason=", ".join(sorted(brokers.values())))]
    try:
        options = admin.broker_options(min(brokers), _LOOKED_AT)
    except CaesuraError as error:
        reason = f"their settings are unknown: {error}"
        return [*found, Finding(subject="broker settings", verdict=FindingLevel.WARNING, reason=reason)]
    return found + list(judge_broker(options, settings))


def denied(
    forbidden: Mapping[str, tuple[bool, bool]], *, reads: Collection[str], writes: Collection[str]
) -> Iterator[Finding]:
    """Yield the topics that ACLs keep this user from. forbidden: what ``KafkaTopics.forbidden`` says of them."""
    for name, (reading, writing) in forbidden.items():
        lacking = ["read it"] if reading and name in reads else []
        lacking += ["write to it"] if writing and name in writes else []
        if lacking:
            reason = f"this user may not {' nor '.join(lacking)} (docs/security.md)"
            yield Finding(subject=f"topic {name}", verdict=FindingLevel.BAD, reason=reason)


def judge_broker(options: Mapping[str, str], settings: KafkaSettings) -> Iterator[Finding]:
    """Yield what is to be said about a broker's settings; those that are not known are passed over."""
    numbers = {name: int(value) for name, value in options.items() if value.isdigit()}
    subject = "broker settings"
    limit = numbers.get(_MAX_TRANSACTION)
    if limit is not None and limit < settings.transaction_timeout_ms:
        reason = f"{_MAX_TRANSACTION} is {limit}: below kafka.transaction_timeout_ms, so no transaction can begin"
        yield Finding(subject=subject, verdict=FindingLevel.BAD, reason=reason)
    cleanup = numbers.get(_CLEANUP)
    if cleanup is not None and cleanup > _LONG_CLEANUP_MS:
        reason = (
            f"{_CLEANUP} is {cleanup}: so much longer than kafka.transaction_timeout_ms readers may wait behind a "
            "worker that died; 1000 is better"
        )
        yield Finding(subject=subject, verdict=FindingLevel.WARNING, reason=reason)
    if settings.group_protocol == "consumer":
        if "consumer" not in options.get(_PROTOCOLS, "consumer"):
            reason = f"{_PROTOCOLS} has no 'consumer', which kafka.group_protocol asks for"
            yield Finding(subject=subject, verdict=FindingLevel.BAD, reason=reason)
        session_ms = numbers.get(_CONSUMER_SESSION)
        if session_ms is not None and session_ms > _LONG_SESSION_MS:
            reason = (
                f"{_CONSUMER_SESSION} is {session_ms}: so long the partitions of a worker that was killed wait for "
                f"another one; {_LONG_SESSION_MS} is better. kafka.session_timeout_ms has no effect with this protocol"
            )
            yield Finding(subject=subject, verdict=FindingLevel.WARNING, reason=reason)
        return
    shortest, longest = numbers.get(_SHORTEST_SESSION, 0), numbers.get(_LONGEST_SESSION, settings.session_timeout_ms)
    if not shortest <= settings.session_timeout_ms <= longest:
        reason = f"kafka.session_timeout_ms must lie within {shortest} and {longest} (group.*.session.timeout.ms)"
        yield Finding(subject=subject, verdict=FindingLevel.BAD, reason=reason)
