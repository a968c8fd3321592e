"""The lines that fill a schema registry, run against a listener that takes what a registry would."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from caesura.schemas.json_schema import FOLDER
from tests.harness.background import in_background
from tests.harness.places import ROOT

POSTED: dict[str, dict[str, str]] = {}


class Registry(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert self.headers["Content-Type"] == "application/vnd.schemaregistry.v1+json"
        POSTED[self.path] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"id": 1}')

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's name
        pass


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_documented_lines_register_every_topics_schema_under_its_subject() -> None:
    lines = re.search(r"```sh\n(for topic in .*?)```", (ROOT / "docs" / "consume.md").read_text(), re.DOTALL)
    assert lines is not None
    with HTTPServer(("127.0.0.1", 0), Registry) as registry, in_background(registry):
        variables = os.environ | {"REGISTRY": f"http://127.0.0.1:{registry.server_port}", "no_proxy": "*"}
        subprocess.run(["bash", "-ec", lines[1]], cwd=ROOT, env=variables, check=True, timeout=120)  # noqa: S607
    for topic in ("asr.words", "asr.segments", "asr.tentative"):
        told = POSTED[f"/subjects/{topic}-value/versions"]
        assert told == {"schemaType": "JSON", "schema": (FOLDER / f"{topic}.schema.json").read_text(encoding="utf-8")}
