"""The stages that the faults are played on: twins, and real parts."""

from __future__ import annotations

import pytest

from tests.crash.stages import InMemoryStage, RealStage, Stage


@pytest.fixture(params=["twin", "real"])
def stage(request: pytest.FixtureRequest) -> Stage:
    if request.param == "twin":
        return InMemoryStage()
    values = [request.getfixturevalue(name) for name in ("kafka", "redis_url", "deployment")]
    return RealStage(*values)
