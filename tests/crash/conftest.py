"""The stages that the faults are played on: twins, and real parts."""

from __future__ import annotations

import pytest

from tests.crash.stages import RealStage, Stage, TwinStage


@pytest.fixture(params=["twin", "real"])
def stage(request: pytest.FixtureRequest) -> Stage:
    if request.param == "twin":
        return TwinStage()
    values = [request.getfixturevalue(name) for name in ("kafka", "redis_url", "deployment")]
    return RealStage(*values)
