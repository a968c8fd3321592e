"""Checks that the brokers answer before a client is made: within two seconds it says which do not, and why.

librdkafka looks for a broker for as long as a request may take, and then only says that it timed out. A user at a
terminal wants to know at once that nothing listens there, or that TLS is expected or missing.
"""

from __future__ import annotations

import socket
import ssl
import struct
from concurrent.futures import ThreadPoolExecutor

from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.errors import BrokerError
from caesura.worker.whole_numbers import MAX_PORT, whole_number

_WITHIN_S = 1.5
_DEFAULT_PORT = 9092
# ApiVersions, version 0, correlation 1, without a client's name: what a broker answers before any authentication.
_API_VERSIONS = struct.pack(">ihhih", 10, 18, 0, 1, -1)
_NOT_TLS = ("WRONG_VERSION_NUMBER", "UNEXPECTED_EOF_WHILE_READING", "RECORD_LAYER_FAILURE")
_SPEAKS_NO_TLS = "no TLS is spoken there (kafka.security_protocol), or it is no Kafka"
_LARGEST_ANSWER = 1_000_000


def await_sign_of_life(settings: KafkaSettings) -> None:
    """Return once one of the brokers answers as Kafka; BrokerError with each one's reason where none does."""
    addresses = [_separated(address) for address in settings.bootstrap_servers.split(",") if address.strip()]
    tls = settings.security_protocol.endswith("SSL")
    with ThreadPoolExecutor(max_workers=max(1, min(len(addresses), 16))) as pool:
        reasons = list(pool.map(lambda address: _silence(*address, tls=tls), addresses))
    if addresses and all(reasons):
        told = "; ".join(f"{host}:{port}: {why}" for (host, port), why in zip(addresses, reasons, strict=True))
        raise BrokerError(f"asking {settings.bootstrap_servers} for a sign of life: {told}")


def _separated(address: str) -> tuple[str, int]:
    host, colon, port = address.strip().rpartition(":")
    number = whole_number(port, MAX_PORT)
    if not colon or number is None:
        return address.strip(), _DEFAULT_PORT
    return host.strip("[]"), number


def _silence(host: str, port: int, *, tls: bool) -> str | None:
    """Return why an address gives no sign of life; None where it does, or where that cannot be told so quickly."""
    try:
        with socket.create_connection((host, port), timeout=_WITHIN_S) as connection:
            connection.settimeout(_WITHIN_S)
            return _no_tls(connection) if tls else _no_kafka(connection)
    except ConnectionRefusedError:
        return "connection refused: nothing listens there"
    except socket.gaierror:
        return "there is no host of that name"
    except TimeoutError:
        return "no answer: the address is wrong, or a firewall lets nothing through"
    except OSError as error:
        return error.strerror or "it cannot be reached"


def _no_kafka(connection: socket.socket) -> str | None:
    """Ask as Kafka asks, without TLS; a broker that expects TLS answers with an alert, or hangs up."""
    connection.sendall(_API_VERSIONS)
    try:
        head = connection.recv(4)
    except TimeoutError:
        return None  # it took the question and may be slow
    except ConnectionError:
        head = b""
    if not head or head[:2] == b"\x15\x03":
        return "it hangs up: TLS is expected there (kafka.security_protocol), or it is no Kafka"
    size = int.from_bytes(head, "big") if len(head) == 4 else 0
    return None if 4 <= size <= _LARGEST_ANSWER else "what answers is no Kafka"


def _no_tls(connection: socket.socket) -> str | None:
    """Begin a TLS handshake; whether its certificate is to be trusted is the client's business."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        context.wrap_socket(connection).close()
    except ssl.SSLZeroReturnError:  # as Python before 3.11.4 tells that the other side hung up
        return _SPEAKS_NO_TLS
    except ssl.SSLError as error:
        return _SPEAKS_NO_TLS if error.reason in _NOT_TLS else None
    except ConnectionError:
        return _SPEAKS_NO_TLS
    except TimeoutError:
        return None
    return None
