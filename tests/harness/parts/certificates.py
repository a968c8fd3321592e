"""Certificates for tests, made by the openssl of this machine: an authority, and a server that it vouches for."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.harness.parts.lookup import missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """PEM files in a folder. stranger_ca: of an authority that vouches for no server and no client."""

    folder: Path

    @property
    def ca(self) -> Path:
        return self.folder / "ca.crt"

    @property
    def stranger_ca(self) -> Path:
        return self.folder / "stranger.crt"

    @property
    def server_key(self) -> Path:
        return self.folder / "server.key"

    @property
    def server_certificate(self) -> Path:
        return self.folder / "server.crt"

    @property
    def server_pem(self) -> Path:
        """Key and certificate in one, as Kafka wants them."""
        return self.folder / "server.pem"

    @property
    def client_key(self) -> Path:
        return self.folder / "client.key"

    @property
    def client_certificate(self) -> Path:
        return self.folder / "client.crt"


def make_certificates(folder: Path) -> Certificates:
    """Make them in ``folder``, the server being 127.0.0.1. The test is skipped, or fails in CI, without an openssl."""
    if shutil.which("openssl") is None:
        missing("no openssl on the PATH to make certificates with")
    for name in ("ca", "stranger"):
        _openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder / f"{name}.key",
                 "-out", folder / f"{name}.crt", "-days", "2", "-subj", f"/CN=caesura test {name}")  # fmt: skip
    names = folder / "names.ext"
    names.write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n", encoding="ascii")
    for name, subject in (("server", "localhost"), ("client", "client")):
        request = folder / f"{name}.csr"
        _openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", folder / f"{name}.key", "-out", request,
                 "-subj", f"/CN={subject}")  # fmt: skip
        _openssl("x509", "-req", "-in", request, "-CA", folder / "ca.crt", "-CAkey", folder / "ca.key",
                 "-CAcreateserial", "-days", "2", "-extfile", names, "-out", folder / f"{name}.crt")  # fmt: skip
    made = Certificates(folder=folder)
    pem = made.server_key.read_text(encoding="ascii") + made.server_certificate.read_text(encoding="ascii")
    made.server_pem.write_text(pem, encoding="ascii")
    return made


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=60)  # noqa: S607
