"""``caesura serve`` as a process: over TLS with a token, on the shipped models; SIGTERM drains it."""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.exceptions import InvalidMessage
from websockets.sync.client import connect

from tests.harness.command import CAESURA, started
from tests.harness.parts.certificates import make_certificates
from tests.harness.places import ROOT
from tests.harness.service import close_of, received, texts

COMMAND = [*CAESURA, "serve", "--port", "0"]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str, ssl.SSLContext]]:
    made = make_certificates(tmp_path)
    settings = {
        "CAESURA_SERVE_TOKEN": "open-sesame",
        "CAESURA_SERVE_TLS_CERTIFICATE": str(made.server_certificate),
        "CAESURA_SERVE_TLS_KEY": str(made.server_key),
    }
    with started(*COMMAND, environ=os.environ | settings, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert "wss://127.0.0.1:" in line, line
        address = line.rpartition("WebSocket: ")[2].strip().rstrip(")")
        yield process, address, ssl.create_default_context(cafile=made.ca)


@pytest.mark.timeout(180)
def test_words_over_tls_come_back_and_a_stop_sends_what_is_left(
    served: tuple[subprocess.Popen[str], str, ssl.SSLContext],
) -> None:
    process, address, trust = served
    with connect(address, ssl=trust, proxy=None, additional_headers={"Authorization": "Bearer open-sesame"}) as client:
        client.send(json.dumps({"lang": "en", "tentative": True}))
        client.send(json.dumps({"words": "so um can you hear me", "utterance_end": True}))
        (*_, segment) = received(client, "segment")
        assert segment["text"] == "So, can you hear me?"
        client.send(json.dumps({"words": "yes we"}))
        while len(received(client, "tentative")[-1]["tentative"]["words"]) < 2:
            pass  # what is not read yet when the signal comes stays the client's
        process.send_signal(signal.SIGTERM)
        left = received(client, "closing")
        assert texts(left) == ["yes", "we"]
        assert close_of(client) == (1012, "draining")
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in errors) == (0, False)


@pytest.mark.timeout(180)
def test_who_speaks_no_tls_or_trusts_another_authority_gets_nowhere(
    served: tuple[subprocess.Popen[str], str, ssl.SSLContext],
) -> None:
    _, address, _ = served
    with pytest.raises(ssl.SSLCertVerificationError), connect(address, proxy=None):
        pass
    plain = address.replace("wss://", "ws://")
    with pytest.raises((OSError, EOFError, InvalidMessage)), connect(plain, proxy=None, open_timeout=10):
        pass


def test_a_certificate_that_is_none_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "none.pem").write_text("nothing", encoding="ascii")
    given = [f"serve.tls_certificate={tmp_path / 'none.pem'}", f"serve.tls_key={tmp_path / 'none.pem'}"]
    options = [part for one in given for part in ("--set", one)]
    done = subprocess.run([*COMMAND, *options], cwd=ROOT, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 1
    assert "TLS: certificate and key cannot be used" in done.stderr
    assert "Traceback" not in done.stderr
