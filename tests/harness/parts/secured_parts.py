"""A Kafka that wants TLS and SCRAM, and a Redis that wants TLS and an ACL user, each with a plain door for the test."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import redis

from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.embedded.embedded_redis import CLUSTER_PORTS, EmbeddedRedis
from caesura.worker.embedded.guarded_process import free_port
from tests.harness.parts.certificates import Certificates
from tests.harness.parts.kafka_broker import KafkaProcess
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.lookup import NotFound, missing
from tests.harness.parts.redis_part import worker_rule
from tests.harness.session_stores import take_all_slots

_AUTHORIZER = """
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecuredKafka:
    """plain: the door for the test. secured: the address that wants TLS and SASL."""

    plain: Kafka
    secured: str
    user: str
    password: str

    def settings(self, authority: Path) -> KafkaSettings:
        """Return how the user comes in by the secured door. authority: the certificate that is trusted."""
        return KafkaSettings(
            bootstrap_servers=self.secured,
            security_protocol="SASL_SSL",
            sasl_mechanism="SCRAM-SHA-512",
            sasl_username=self.user,
            sasl_password=self.password,
            ssl_ca_file=str(authority),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SecuredRedis:
    """plain_url: the door for the test. address: host and port that speak TLS alone, to this user alone."""

    plain_url: str
    address: str
    user: str
    password: str


@contextmanager
def secured_kafka(
    certificates: Certificates, *, user: str, password: str, authorizer: bool = False
) -> Iterator[SecuredKafka]:
    """Run a broker with a plain listener and one that wants TLS and SCRAM-SHA-512.

    authorizer: whoever comes by the plain one may do everything, and others what ACLs say; at first nothing.
    """
    port, secured, controller = free_port(), free_port(), free_port()
    settings = f"""
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},SASL_SSL://127.0.0.1:{secured},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port},SASL_SSL://127.0.0.1:{secured}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT
sasl.enabled.mechanisms=SCRAM-SHA-512
ssl.keystore.type=PEM
ssl.keystore.location={certificates.server_pem}
listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=\
org.apache.kafka.common.security.scram.ScramLoginModule required;
"""
    if authorizer:
        settings += _AUTHORIZER
    try:
        process = KafkaProcess(port=port, settings=settings, scram={user: password})
    except NotFound as why:
        missing(str(why))
    try:
        process.start()
        plain = Kafka(process.bootstrap, "this test's own", process, process.close)
        yield SecuredKafka(plain=plain, secured=f"127.0.0.1:{secured}", user=user, password=password)
    finally:
        process.close()


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
