"""Which librdkafka options nobody may override, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["RESERVED_OPTIONS"]

_ORDER = "a published word is in order and there once only with an idempotent, transactional producer"
_SEAM = "the runtime alone says which offset counts and where reading goes on"
_OWN = "it has a setting of its own"

RESERVED_OPTIONS: Mapping[str, str] = {
    "acks": _ORDER,
    "request.required.acks": _ORDER,
    "enable.idempotence": _ORDER,
    "max.in.flight": _ORDER,
    "max.in.flight.requests.per.connection": _ORDER,
    "retries": _ORDER,
    "message.send.max.retries": _ORDER,
    "message.timeout.ms": "a record must not be given up before its transaction is",
    "delivery.timeout.ms": "a record must not be given up before its transaction is",
    "enable.gapless.guarantee": _ORDER,
    "auto.commit.enable": _SEAM,
    "enable.auto.commit": _SEAM,
    "auto.commit.interval.ms": _SEAM,
    "enable.auto.offset.store": _SEAM,
    "auto.offset.reset": "an offset out of range is reported, never passed over",
    "isolation.level": "aborted words must stay unseen, and stable offsets are asked for only under read_committed",
    "enable.partition.eof": "time goes on without words only where a partition is known to be read to its end",
    "partition.assignment.strategy": "the rebalance callbacks are written for cooperative-sticky",
    "group.remote.assignor": "the rebalance callbacks are written for the broker's default assignor",
    "allow.auto.create.topics": "a mistyped topic must fail, not come into being",
    "message.max.bytes": "a record that only the producer finds too large would abort every transaction",
    "transactional.id": "it names the deployment and the ordinal of the worker",
    "test.mock.num.brokers": "a mock cluster knows no transactions",
    "bootstrap.servers": _OWN,
    "metadata.broker.list": _OWN,
    "client.id": _OWN,
    "group.id": _OWN,
    "group.protocol": _OWN,
    "group.instance.id": _OWN,
    "session.timeout.ms": _OWN,
    "heartbeat.interval.ms": _OWN,
    "max.poll.interval.ms": _OWN,
    "transaction.timeout.ms": _OWN,
    "linger.ms": _OWN,
    "fetch.min.bytes": _OWN,
    "fetch.wait.max.ms": _OWN,
    "fetch.max.bytes": _OWN,
    "max.partition.fetch.bytes": _OWN,
    "queued.max.messages.kbytes": _OWN,
    "queue.buffering.max.ms": _OWN,
    "fetch.message.max.bytes": _OWN,
    "socket.timeout.ms": _OWN,
    "security.protocol": _OWN,
    "ssl.ca.location": _OWN,
    "ssl.certificate.location": _OWN,
    "ssl.key.location": _OWN,
    "ssl.key.password": _OWN,
    "sasl.mechanism": _OWN,
    "sasl.mechanisms": _OWN,
    "sasl.username": _OWN,
    "sasl.password": _OWN,
    "sasl.oauthbearer.method": _OWN,
    "sasl.oauthbearer.token.endpoint.url": _OWN,
    "sasl.oauthbearer.client.id": _OWN,
    "sasl.oauthbearer.client.secret": _OWN,
    "sasl.oauthbearer.scope": _OWN,
}
"""librdkafka options that ``extra`` may not name, and why."""
