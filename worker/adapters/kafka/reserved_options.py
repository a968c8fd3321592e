"""The librdkafka options that ``kafka.extra`` may not set, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping

_ORDER = "words are published once and in order only by an idempotent, transactional producer"
_PROTOCOL = "the commit protocol alone decides which offset is committed and where reading continues"

_SETTINGS = {
    "client.id": "worker.deployment and worker.ordinal",
    "group.id": "worker.deployment",
    "bootstrap.servers": "kafka.bootstrap_servers",
    "metadata.broker.list": "kafka.bootstrap_servers",
    "group.protocol": "kafka.group_protocol",
    "group.instance.id": "kafka.group_instance_id",
    "session.timeout.ms": "kafka.session_timeout_ms",
    "heartbeat.interval.ms": "kafka.heartbeat_interval_ms",
    "max.poll.interval.ms": "kafka.max_poll_interval_ms",
    "transaction.timeout.ms": "kafka.transaction_timeout_ms",
    "linger.ms": "kafka.linger_ms",
    "fetch.min.bytes": "kafka.fetch_min_bytes",
    "fetch.wait.max.ms": "kafka.fetch_wait_ms",
    "fetch.max.bytes": "kafka.fetch_max_bytes",
    "max.partition.fetch.bytes": "kafka.partition_fetch_max_bytes",
    "queued.max.messages.kbytes": "kafka.prefetch_max_kbytes",
    "queue.buffering.max.ms": "kafka.linger_ms",
    "fetch.message.max.bytes": "kafka.partition_fetch_max_bytes",
    "socket.timeout.ms": "kafka.request_timeout_ms",
    "security.protocol": "kafka.security_protocol",
    "ssl.ca.location": "kafka.ssl_ca_file",
    "ssl.certificate.location": "kafka.ssl_certificate_file",
    "ssl.key.location": "kafka.ssl_key_file",
    "ssl.key.password": "kafka.ssl_key_password",
    "sasl.mechanism": "kafka.sasl_mechanism",
    "sasl.mechanisms": "kafka.sasl_mechanism",
    "sasl.username": "kafka.sasl_username",
    "sasl.password": "kafka.sasl_password",
    "sasl.oauthbearer.method": "kafka.sasl_mechanism",
    "sasl.oauthbearer.token.endpoint.url": "kafka.oauth_token_endpoint",
    "sasl.oauthbearer.client.id": "kafka.oauth_client_id",
    "sasl.oauthbearer.client.secret": "kafka.oauth_client_secret",
    "sasl.oauthbearer.scope": "kafka.oauth_scope",
}
"""Options that a Caesura setting sets, and its name."""

RESERVED_OPTIONS: Mapping[str, str] = {
    "acks": _ORDER,
    "request.required.acks": _ORDER,
    "enable.idempotence": _ORDER,
    "max.in.flight": _ORDER,
    "max.in.flight.requests.per.connection": _ORDER,
    "retries": _ORDER,
    "message.send.max.retries": _ORDER,
    "message.timeout.ms": "a record must not time out before its transaction",
    "delivery.timeout.ms": "a record must not time out before its transaction",
    "enable.gapless.guarantee": _ORDER,
    "auto.commit.enable": _PROTOCOL,
    "enable.auto.commit": _PROTOCOL,
    "auto.commit.interval.ms": _PROTOCOL,
    "enable.auto.offset.store": _PROTOCOL,
    "auto.offset.reset": "an offset out of range must be reported, not skipped",
    "isolation.level": "aborted words must stay hidden, and only read_committed asks for stable offsets",
    "enable.partition.eof": "partition time advances without words only at the known end of a partition",
    "partition.assignment.strategy": "the rebalance callbacks are written for cooperative-sticky",
    "group.remote.assignor": "the rebalance callbacks are written for the broker's default assignor",
    "allow.auto.create.topics": "a mistyped topic must fail, not be created",
    "message.max.bytes": "a record that the producer refuses as too large would abort every transaction",
    "transactional.id": "worker.deployment and worker.ordinal set it",
    "test.mock.num.brokers": "a mock cluster has no transactions",
    **{option: f"it is set by {setting}" for option, setting in _SETTINGS.items()},
}
"""Option -> why ``kafka.extra`` may not set it."""
