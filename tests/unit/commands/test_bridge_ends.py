"""The ends of a bridge: what was sent is taken before it goes, whoever tells it to stop; and any address will do."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from typer.testing import CliRunner

from caesura.schemas.codec import decode_event
from caesura.worker.adapters.kafka.event_sender import KafkaSender
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.topic_reader import KafkaReader, Start
from caesura.worker.adapters.websocket.shown_address import is_address
from caesura.worker.cli import app
from caesura.worker.embedded.mock_cluster import mock_cluster


@pytest.mark.parametrize("again", [False, True])
def test_a_stop_waits_until_what_was_sent_is_taken_and_a_second_one_does_not(
    again: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[bool] = []

    class Stopped(KafkaSender):
        """Is told to stop while it waits."""

        def flush(self) -> None:
            os.kill(os.getpid(), signal.SIGTERM)
            if again:
                os.kill(os.getpid(), signal.SIGINT)
            super().flush()
            taken.append(True)

    monkeypatch.setattr("caesura.worker.commands.bridge.KafkaSender", Stopped)
    (tmp_path / "said.jsonl").write_text('{"text": "so um"}\n')
    with mock_cluster(["asr.words"]) as bootstrap:
        told = ("--from", "vosk", "--set", f"kafka.bootstrap_servers={bootstrap}")
        done = CliRunner().invoke(app, ["bridge", str(tmp_path / "said.jsonl"), *told])
        with KafkaReader(KafkaSettings(bootstrap_servers=bootstrap), "asr.words") as reader:
            sent = [decode_event(one.value or b"") for one in reader.read(Start(), follow=False)]
    assert taken == ([] if again else [True])
    assert (done.exit_code == 0) is not again
    assert again or [word.text for one in sent for word in one.words] == ["so", "um"]


def test_an_address_may_be_longer_than_a_path_may_be() -> None:
    assert is_address(f"wss://example/stream?X-Amz-Security-Token={'s' * 5000}")
