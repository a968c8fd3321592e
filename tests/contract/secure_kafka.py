"""A real broker that speaks TLS and SASL, with certificates made for the test run."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

from caesura.worker.embedded.guarded_process import free_port
from tests.harness.parts.kafka_broker import KafkaProcess
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.lookup import NotFound

USER = "caesura"
PASSWORD = "a password of this test only"

_SETTINGS = """
listeners=PLAINTEXT://127.0.0.1:{plain},CONTROLLER://127.0.0.1:{controller},SASL://127.0.0.1:{sasl},TLS://127.0.0.1:{tls}
advertised.listeners=PLAINTEXT://127.0.0.1:{plain},SASL://127.0.0.1:{sasl},TLS://127.0.0.1:{tls}
controller.quorum.voters=1@127.0.0.1:{controller}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL:SASL_SSL,TLS:SSL
inter.broker.listener.name=PLAINTEXT
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.sasl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
user_{user}="{password}";
listener.name.sasl.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.sasl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.tls.ssl.client.auth=required
ssl.keystore.type=PEM
ssl.keystore.location={folder}/broker.pem
ssl.truststore.type=PEM
ssl.truststore.location={folder}/ca.crt
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecureKafka:
    """Addresses of the listener with SASL over TLS and of the one with client certificates, and PEM files."""

    kafka: Kafka
    sasl: str
    tls: str
    folder: Path

    def pem(self, name: str) -> str:
        """Return the path of a certificate (``.crt``) or key (``.key``): ca, client, stranger-ca."""
        return str(self.folder / name)


@contextmanager
def secure_kafka(folder: Path) -> Iterator[SecureKafka]:
    """Start the broker; NotFound where no openssl makes certificates, or no Kafka can be started."""
    _make_certificates(folder)
    ports = {name: free_port() for name in ("plain", "controller", "sasl", "tls")}
    settings = _SETTINGS.format(**ports, folder=folder, user=USER, password=PASSWORD)
    process = KafkaProcess(port=ports["plain"], settings=settings)
    process.start()
    kafka = Kafka(process.bootstrap, "a broker with TLS and SASL", process, process.close)
    try:
        for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
            credential = ScramCredentialInfo(mechanism, 4096)
            change = UserScramCredentialUpsertion(USER, credential, PASSWORD.encode())
            for future in kafka.admin.alter_user_scram_credentials([change]).values():
                future.result(timeout=30)
        yield SecureKafka(
            kafka=kafka, sasl=f"127.0.0.1:{ports['sasl']}", tls=f"127.0.0.1:{ports['tls']}", folder=folder
        )
    finally:
        kafka.close()


def _make_certificates(folder: Path) -> None:
    for authority in ("ca", "stranger-ca"):
        _openssl(folder, f"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={authority} "
                 f"-keyout {authority}.key -out {authority}.crt")  # fmt: skip
    for name in ("broker", "client"):
        (folder / f"{name}.ext").write_text("subjectAltName=IP:127.0.0.1\n")
        _openssl(folder, f"req -newkey rsa:2048 -nodes -subj /CN={name} -keyout {name}.key -out {name}.csr")
        _openssl(folder, f"x509 -req -days 2 -in {name}.csr -CA ca.crt -CAkey ca.key -CAcreateserial "
                 f"-extfile {name}.ext -out {name}.crt")  # fmt: skip
    _openssl(folder, "pkcs8 -topk8 -nocrypt -in broker.key -out broker.pk8")
    parts = ("broker.pk8", "broker.crt", "ca.crt")
    (folder / "broker.pem").write_text("".join((folder / part).read_text() for part in parts))


def _openssl(folder: Path, arguments: str) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        raise NotFound("no openssl on the PATH to make certificates")
    subprocess.run([openssl, *arguments.split()], cwd=folder, check=True, capture_output=True)
