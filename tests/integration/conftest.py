"""A deployment to rehearse the runbook on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.parts.kafka_part import Kafka
from tests.harness.rehearsal import Rehearsal


@pytest.fixture
def rehearsal(kafka: Kafka, redis_url: str, deployment: str, tmp_path: Path) -> Rehearsal:
    return Rehearsal(kafka, redis_url, deployment, tmp_path)
