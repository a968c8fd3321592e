"""Certificates for tests, made by the openssl of this machine: an authority, and a server that it vouches for."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.harness.parts.lookup import missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """PEM files. server_pem: key and certificate in one, as Kafka wants them. stranger_ca: one that nobody trusts."""

    ca: Path
    server_key: Path
    server_certificate: Path
    server_pem: Path
    stranger_ca: Path


def make_certificates(folder: Path) -> Certificates:
    """Make them in ``folder``, the server being 127.0.0.1. The test is skipped, or fails in CI, without an openssl."""
    if shutil.which("openssl") is None:
        missing("no openssl on the PATH to make certificates with")
    ca_key, ca = _authority(folder, "ca")
    _, stranger_ca = _authority(folder, "stranger")
    key, request, certificate = folder / "server.key", folder / "server.csr", folder / "server.crt"
    names = folder / "names.ext"
    names.write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n", encoding="ascii")
    _openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request, "-subj", "/CN=localhost")
    _openssl("x509", "-req", "-in", request, "-CA", ca, "-CAkey", ca_key, "-CAcreateserial", "-days", "2",
             "-extfile", names, "-out", certificate)  # fmt: skip
    pem = folder / "server.pem"
    pem.write_text(key.read_text(encoding="ascii") + certificate.read_text(encoding="ascii"), encoding="ascii")
    return Certificates(ca=ca, server_key=key, server_certificate=certificate, server_pem=pem, stranger_ca=stranger_ca)


def _authority(folder: Path, name: str) -> tuple[Path, Path]:
    key, certificate = folder / f"{name}.key", folder / f"{name}.crt"
    _openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
             "-subj", f"/CN=caesura test {name}")  # fmt: skip
    return key, certificate


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=60)  # noqa: S607
