"""Settings of every Kafka client, and their librdkafka options."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from msgspec import Meta

from caesura.worker.adapters.kafka.reserved_options import RESERVED_OPTIONS
from caesura.worker.errors import FatalError

ClientOption = str | int | bool

_OF_MEMBERS = frozenset(
    {
        "fetch.min.bytes",
        "group.instance.id",
        "heartbeat.interval.ms",
        "max.poll.interval.ms",
        "session.timeout.ms",
    }
)

_ADDRESS = re.compile(r"((SASL_)?(PLAINTEXT|SSL)://)?(\[[0-9A-Fa-f:.%]+\]|[^\s:/@]+)?(:\d{1,5})?", re.IGNORECASE)
_ANY_BYTES = 1_000_000_000

_SASL_WITH_PASSWORD = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaSettings:
    """How to reach Kafka, and the group's and the transactions' times. FatalError on contradictions, all at once.

    bootstrap_servers: ``host:port`` of some brokers, separated by commas.
    group_id, client_id: the group, and the name in the brokers' logs.
    security_protocol: whether TLS and SASL are used.
    ssl_ca_file: PEM file of the authorities; empty: the system's.
    ssl_certificate_file: PEM file of the client's certificate, if it has one.
    ssl_key_file: PEM file of that certificate's key.
    ssl_key_password: password of the key.
    sasl_mechanism: how the client authenticates.
    sasl_username: user, for PLAIN and SCRAM.
    sasl_password: that user's password.
    oauth_token_endpoint: address that gives tokens, for OAUTHBEARER.
    oauth_client_id: the client's name there.
    oauth_client_secret: the client's secret there.
    oauth_scope: the scope to ask for; empty: the endpoint's default.
    group_protocol: ``consumer`` is KIP-848, where the broker owns session time-out and heartbeat.
    group_instance_id: static membership, for the classic protocol and without autoscaling (under KIP-848 a killed
        member's id is refused until its session ends).
    session_timeout_ms: how long the broker waits for a sign of life before the partitions go to others; classic only.
    heartbeat_interval_ms: time between signs of life, at most a third of that; classic only.
    max_poll_interval_ms: how long the loop may take between two polls before the group drops the worker.
    transaction_timeout_ms: age at which the broker aborts a transaction; keep it just above the longest checkpoint,
        because consumers do not read past an open transaction.
    request_timeout_ms: time-out of one request to a broker.
    linger_ms: how long the producer gathers records for one request; part of the delay.
    fetch_min_bytes: bytes that a broker gathers before it answers a fetch, within ``fetch_wait_ms``.
    fetch_wait_ms: longest time that a broker gathers records; part of the delay. A partition that was just sought or
        resumed waits as long.
    fetch_max_bytes: most bytes of one answer to a fetch.
    partition_fetch_max_bytes: most bytes of one partition in it.
    prefetch_max_kbytes: input held in memory ahead of the loop.
    extra: further librdkafka options for every client, ``name=value``; those that exactly-once depends on are refused.
    """

    bootstrap_servers: str
    group_id: str = "caesura"
    client_id: str = "caesura"
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    ssl_ca_file: str | None = None
    ssl_certificate_file: str | None = None
    ssl_key_file: str | None = None
    ssl_key_password: str | None = field(default=None, repr=False)
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] | None = None
    sasl_username: str | None = None
    sasl_password: str | None = field(default=None, repr=False)
    oauth_token_endpoint: str | None = None
    oauth_client_id: str | None = None
    oauth_client_secret: str | None = field(default=None, repr=False)
    oauth_scope: str | None = None
    group_protocol: Literal["classic", "consumer"] = "classic"
    group_instance_id: str | None = None
    session_timeout_ms: Annotated[int, Meta(ge=1_000, le=1_800_000)] = 10_000
    heartbeat_interval_ms: Annotated[int, Meta(ge=100, le=600_000)] = 3_000
    max_poll_interval_ms: Annotated[int, Meta(ge=1_000, le=3_600_000)] = 60_000
    transaction_timeout_ms: Annotated[int, Meta(ge=1_000, le=900_000)] = 10_000
    request_timeout_ms: Annotated[int, Meta(ge=500, le=300_000)] = 10_000
    linger_ms: Annotated[int, Meta(ge=0, le=1_000)] = 2
    fetch_min_bytes: Annotated[int, Meta(ge=1, le=16_777_216)] = 64 * 1024
    fetch_wait_ms: Annotated[int, Meta(ge=1, le=5_000)] = 20
    fetch_max_bytes: Annotated[int, Meta(ge=65_536, le=1_073_741_824)] = 16 * 1024 * 1024
    partition_fetch_max_bytes: Annotated[int, Meta(ge=65_536, le=1_073_741_824)] = 1024 * 1024
    prefetch_max_kbytes: Annotated[int, Meta(ge=64, le=2_097_151)] = 16 * 1024
    extra: Mapping[str, ClientOption] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse contradictions with every reason in one message."""
        findings = [*self._security_findings(), *self._group_findings(), *self._extra_findings()]
        if self.fetch_min_bytes > self.partition_fetch_max_bytes:
            findings.append("fetch_min_bytes is more than partition_fetch_max_bytes: a backlog would be waited for")
        if findings:
            raise FatalError("Kafka settings: " + "; ".join(findings))

    def _security_findings(self) -> list[str]:
        sasl = self.security_protocol.startswith("SASL")
        findings = []
        if not self.bootstrap_servers.strip(" ,"):
            findings.append("bootstrap_servers is empty")
        elif "@" not in self.bootstrap_servers:  # credentials are refused below, and not quoted
            findings += [
                f"bootstrap_servers: an address is host:port, and {address.strip()!r} is not"
                for address in self.bootstrap_servers.split(",")
                if address.strip() and not _ADDRESS.fullmatch(address.strip())
            ]
        findings += self._credentials_findings()
        if sasl != (self.sasl_mechanism is not None):
            findings.append("sasl_mechanism is needed with a SASL security_protocol, and only there")
        if self.sasl_mechanism in _SASL_WITH_PASSWORD and not (self.sasl_username and self.sasl_password):
            findings.append(f"{self.sasl_mechanism} needs sasl_username and sasl_password")
        if not sasl and (self.sasl_username or self.sasl_password):
            findings.append("sasl_username and sasl_password are given but security_protocol does not use SASL")
        findings += self._oauth_findings()
        if (self.ssl_certificate_file is None) != (self.ssl_key_file is None):
            findings.append("ssl_certificate_file and ssl_key_file go together")
        if not self.security_protocol.endswith("SSL") and (self.ssl_ca_file or self.ssl_certificate_file):
            findings.append("ssl files are given but security_protocol does not use TLS")
        return findings

    def _oauth_findings(self) -> list[str]:
        needed = ("oauth_token_endpoint", "oauth_client_id", "oauth_client_secret")
        given = [name for name in (*needed, "oauth_scope") if getattr(self, name)]
        if self.sasl_mechanism != "OAUTHBEARER":
            return [f"{name} is given but sasl_mechanism is not OAUTHBEARER" for name in given]
        findings = [
            f"{name} is given but sasl_mechanism is OAUTHBEARER: it shows oauth_client_id and oauth_client_secret"
            for name in ("sasl_username", "sasl_password")
            if getattr(self, name)
        ]
        if not {*needed} <= {*given}:
            findings.append("OAUTHBEARER needs oauth_token_endpoint, oauth_client_id and oauth_client_secret")
        return findings

    def _credentials_findings(self) -> list[str]:
        """Refuse credentials in an address, without quoting it: addresses are shown, and librdkafka logs them."""
        findings = []
        if "@" in self.bootstrap_servers:
            findings.append(
                "bootstrap_servers is host:port alone: user and password have settings of their own, "
                "sasl_username and sasl_password"
            )
        if "@" in (self.oauth_token_endpoint or ""):
            findings.append(
                "oauth_token_endpoint must hold no credentials: they have settings of their own, oauth_client_id and "
                "oauth_client_secret"
            )
        return findings

    def _group_findings(self) -> list[str]:
        findings = []
        if self.group_instance_id is not None and self.group_protocol != "classic":
            findings.append("group_instance_id (static membership) needs the classic group_protocol")
        if self.group_protocol == "classic" and self.heartbeat_interval_ms * 3 > self.session_timeout_ms:
            findings.append("heartbeat_interval_ms must be at most a third of session_timeout_ms")
        if self.max_poll_interval_ms < self.session_timeout_ms and self.group_protocol == "classic":
            findings.append("max_poll_interval_ms must not be below session_timeout_ms")
        if self.transaction_timeout_ms < 1_000:
            findings.append("transaction_timeout_ms must be at least 1000")
        return findings

    def _extra_findings(self) -> list[str]:
        return [
            f"option {name} cannot be set: {reason}"
            for name in sorted(self.extra)
            if (reason := RESERVED_OPTIONS.get(name)) is not None
        ]

    def client_options(self) -> dict[str, object]:
        """Return the options of an admin client, and what the others share."""
        given: dict[str, object | None] = {
            **self.extra,
            "bootstrap.servers": self.bootstrap_servers,
            "client.id": self.client_id,
            "security.protocol": self.security_protocol,
            "ssl.ca.location": self.ssl_ca_file,
            "ssl.certificate.location": self.ssl_certificate_file,
            "ssl.key.location": self.ssl_key_file,
            "ssl.key.password": self.ssl_key_password,
            "sasl.mechanism": self.sasl_mechanism,
            "sasl.username": self.sasl_username,
            "sasl.password": self.sasl_password,
            "socket.timeout.ms": self.request_timeout_ms,
            "log.connection.close": False,
            # librdkafka writes to stderr by itself unless it is given a logger.
            "logger": logging.getLogger("caesura.kafka"),
        }
        if self.sasl_mechanism == "OAUTHBEARER":
            given |= {
                "sasl.oauthbearer.method": "oidc",
                "sasl.oauthbearer.token.endpoint.url": self.oauth_token_endpoint,
                "sasl.oauthbearer.client.id": self.oauth_client_id,
                "sasl.oauthbearer.client.secret": self.oauth_client_secret,
                "sasl.oauthbearer.scope": self.oauth_scope,
            }
        return {name: value for name, value in given.items() if value is not None}

    def consumer_options(self) -> dict[str, object]:
        """Return the options of the group member; the guarantees' ones are fixed."""
        # The refresh finds partitions that were added, and a topic that a broker did not know when it was asked first.
        tuning = {"fetch.queue.backoff.ms": 100, "topic.metadata.refresh.interval.ms": 10_000}
        options = tuning | self.client_options()
        options |= {
            "group.id": self.group_id,
            "group.protocol": self.group_protocol,
            "max.poll.interval.ms": self.max_poll_interval_ms,
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "allow.auto.create.topics": False,
            "fetch.min.bytes": self.fetch_min_bytes,
            "fetch.wait.max.ms": self.fetch_wait_ms,
            "fetch.max.bytes": self.fetch_max_bytes,
            "max.partition.fetch.bytes": self.partition_fetch_max_bytes,
            "queued.max.messages.kbytes": self.prefetch_max_kbytes,
        }
        if self.group_protocol == "classic":
            options |= {
                "partition.assignment.strategy": "cooperative-sticky",
                "session.timeout.ms": self.session_timeout_ms,
                "heartbeat.interval.ms": self.heartbeat_interval_ms,
            }
            if self.group_instance_id is not None:
                options["group.instance.id"] = self.group_instance_id
        return options

    def reader_options(self) -> dict[str, object]:
        """Return the options of a consumer that reads what it is assigned and never joins the group.

        It bears the group's name all the same: librdkafka asks for the coordinator of whatever group is named, and ACLs
        admit the worker to this one alone. The group's times are left out: librdkafka checks them against one another,
        and without the group they are nobody's; so is what a broker gathers, for the end of a log may be a few bytes.
        """
        options = self.consumer_options() | {"group.protocol": "classic"}
        return {name: value for name, value in options.items() if name not in _OF_MEMBERS}

    def producer_options(self, transactional_id: str) -> dict[str, object]:
        """Return the options of a transactional producer; a record lives as long as its transaction may."""
        # A transaction right after another meets CONCURRENT_TRANSACTIONS while the markers of the first are written;
        # librdkafka's 100 ms of back-off would be the greater part of such a checkpoint.
        options = {"retry.backoff.ms": 10} | self.client_options()
        return options | {
            "transactional.id": transactional_id,
            "enable.idempotence": True,
            "acks": "all",
            # What is too large the topic says. librdkafka's own 1,000,000 is below a broker's default: the dead letter
            # of an event near that limit, its origin beside its bytes, would abort every transaction that holds it.
            "message.max.bytes": _ANY_BYTES,
            "transaction.timeout.ms": self.transaction_timeout_ms,
            # librdkafka wants a request to end before its transaction does.
            "socket.timeout.ms": min(self.request_timeout_ms, self.transaction_timeout_ms),
            "delivery.timeout.ms": self.transaction_timeout_ms,
            "linger.ms": self.linger_ms,
            "delivery.report.only.error": False,  # where the ledger ends is read off them
        }
