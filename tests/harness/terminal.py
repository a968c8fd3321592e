"""The command line in this process: what it prints, and how it ends."""

from __future__ import annotations

import logging
import os
import sys
from dataclasses import dataclass

import pytest

from caesura.worker.cli import main


class Terminal:
    """Runs the command in this process: quicker, and as true where only text and status matter."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def run(self, *arguments: str, **variables: str) -> Outcome:
        with self._monkeypatch.context() as patch:
            for name in os.environ:
                if name.startswith("CAESURA_"):
                    patch.delenv(name)
            for name, value in ({"COLUMNS": "200", "NO_COLOR": "1"} | variables).items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["caesura", *arguments])
            patch.setattr(sys.modules["__main__"], "__package__", "")  # or it calls itself ``python -m pytest.caesura``
            with pytest.raises(SystemExit) as ended:
                main()
        logging.getLogger("caesura.kafka").setLevel(logging.NOTSET)  # the command silences it for its process
        shown = self._capsys.readouterr()
        return Outcome(status=int(ended.value.code or 0), out=shown.out, err=shown.err)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    status: int
    out: str
    err: str
