"""Nothing that a test has opened outlives it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.workers.real import close_all


@pytest.fixture(autouse=True)
def _nothing_stays_open() -> Iterator[None]:
    yield
    close_all()
