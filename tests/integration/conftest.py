"""Nothing that a test has opened outlives it; a deployment to rehearse the runbook on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.rehearsal import Rehearsal
from tests.parts.kafka_part import Kafka
from tests.workers.real import close_all


@pytest.fixture(autouse=True)
def _nothing_stays_open() -> Iterator[None]:
    yield
    close_all()


@pytest.fixture
def rehearsal(kafka: Kafka, redis_url: str, deployment: str, tmp_path: Path) -> Rehearsal:
    return Rehearsal(kafka, redis_url, deployment, tmp_path)
