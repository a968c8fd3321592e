"""A Kafka that wants TLS and a user, a Redis that wants TLS and an ACL user, each with a plain door for the test."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import redis
from confluent_kafka.admin import ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.embedded.embedded_redis import CLUSTER_PORTS, EmbeddedRedis
from caesura.worker.embedded.guarded_process import free_port
from tests.harness.parts.certificates import Certificates
from tests.harness.parts.kafka_broker import KafkaProcess
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.lookup import NotFound, missing
from tests.harness.parts.redis_part import worker_rule
from tests.harness.session_stores import take_all_slots

USER, PASSWORD = "caesura", "kafka-canary-4711"
"""Who may do everything, by every mechanism."""
_SETTINGS = """
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{plain},SASL://127.0.0.1:{sasl},TLS://127.0.0.1:{tls},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{plain},SASL://127.0.0.1:{sasl},TLS://127.0.0.1:{tls}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL:SASL_SSL,TLS:SSL,CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.sasl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
user_{user}="{password}";
listener.name.sasl.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.sasl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.tls.ssl.client.auth=required
ssl.keystore.type=PEM
ssl.keystore.location={certificates.server_pem}
ssl.truststore.type=PEM
ssl.truststore.location={certificates.ca}
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS;User:{user};User:CN=client
"""


class SecuredKafka:
    """A broker with three doors: plain for the test, sasl with SASL over TLS, tls with client certificates.

    ``USER`` and the client certificate may do everything; other users what ACLs say, at first nothing.
    """

    def __init__(self, plain: str, sasl: str, tls: str, certificates: Certificates) -> None:
        self.plain = Kafka(plain)
        self.sasl = sasl
        self.tls = tls
        self.certificates = certificates

    def add_user(self, name: str) -> None:
        """Let a user in by SCRAM, with ``PASSWORD``."""
        for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
            known = UserScramCredentialUpsertion(name, ScramCredentialInfo(mechanism, 4096), PASSWORD.encode())
            for future in self.plain.admin.alter_user_scram_credentials([known]).values():
                future.result(timeout=30)

    def settings(
        self,
        user: str = USER,
        *,
        mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "SCRAM-SHA-512",
        password: str = PASSWORD,
        authority: Path | None = None,
    ) -> KafkaSettings:
        """Return how a user comes in by SASL. authority: the certificate that is trusted, if not the server's."""
        return KafkaSettings(
            bootstrap_servers=self.sasl,
            security_protocol="SASL_SSL",
            sasl_mechanism=mechanism,
            sasl_username=user,
            sasl_password=password,
            ssl_ca_file=str(authority or self.certificates.ca),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SecuredRedis:
    """plain_url: the door for the test. address: host and port that speak TLS alone, to this user alone."""

    plain_url: str
    address: str
    user: str
    password: str


@contextmanager
def secured_kafka(certificates: Certificates) -> Iterator[SecuredKafka]:
    """Run such a broker to the end of the block. The test is skipped, or fails in CI, where none can be started."""
    ports = {name: free_port() for name in ("plain", "sasl", "tls", "controller")}
    settings = _SETTINGS.format(**ports, certificates=certificates, user=USER, password=PASSWORD)
    try:
        process = KafkaProcess(port=ports["plain"], settings=settings)
    except NotFound as why:
        missing(str(why))
    with closing(process):
        process.start()
        plain, sasl, tls = (f"127.0.0.1:{ports[name]}" for name in ("plain", "sasl", "tls"))
        secured = SecuredKafka(plain, sasl, tls, certificates)
        secured.add_user(USER)
        yield secured


@contextmanager
def secured_redis(
    certificates: Certificates, *, user: str, password: str, deployment: str, cluster: bool = False
) -> Iterator[SecuredRedis]:
    """Run a Redis with a TLS port, and a user who has the chart's rule for the deployment; alone, or as a cluster."""
    port = free_port(CLUSTER_PORTS)
    arguments: tuple[str, ...] = (
        "--tls-port", str(port), "--tls-auth-clients", "no", "--tls-ca-cert-file", str(certificates.ca),
        "--tls-cert-file", str(certificates.server_certificate), "--tls-key-file", str(certificates.server_key),
    )  # fmt: skip
    if cluster:
        arguments += ("--cluster-enabled", "yes", "--tls-cluster", "yes")
    with EmbeddedRedis(_speaking_tls(), arguments=arguments) as server:
        if cluster:
            take_all_slots(server.port)
        with redis.Redis.from_url(server.url) as admin:
            rule = worker_rule(deployment).split()
            admin.execute_command("ACL", "SETUSER", user, "reset", "on", f">{password}", *rule)
        yield SecuredRedis(plain_url=server.url, address=f"127.0.0.1:{port}", user=user, password=password)


def _speaking_tls() -> Path:
    """Return a redis-server that was built with TLS; many packaged ones were not."""
    on_path = (Path(folder) / "redis-server" for folder in os.get_exec_path())
    found = next((one for one in on_path if os.access(one, os.X_OK) and _knows_tls(one)), None)
    if found is None:
        missing("no redis-server with TLS on the PATH (Debian's redis-server package has it)")
    return found


def _knows_tls(server: Path) -> bool:
    command = [str(server), "--port", "0", "--tls-port", "1"]
    asked = subprocess.run(command, capture_output=True, timeout=20, check=False)
    return b"Bad directive" not in asked.stdout + asked.stderr
