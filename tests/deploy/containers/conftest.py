"""The engine of this machine and the project's image in it, built once a run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import pytest

from tests.deploy.containers.engine import Engine, find_engine, why_no_engine
from tests.deploy.containers.machine import machine
from tests.harness.parts.lookup import missing


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """The engine; without one the test is skipped, and fails where CAESURA_CONTAINERS promises one."""
    if "CAESURA_CONTAINERS" not in os.environ:
        pytest.skip("`make test-image` and `make test-node` run it")
    found = find_engine()
    if found is None:
        missing(str(why_no_engine()), promised=os.environ["CAESURA_CONTAINERS"] == "required")
    yield found
    found.close()


@pytest.fixture(scope="session")
def machine_before(engine: Engine) -> Mapping[str, frozenset[str]]:
    """What there was on this machine before the engine was used."""
    assert engine.command
    return machine()


@pytest.fixture(scope="session")
def image(engine: Engine, machine_before: Mapping[str, frozenset[str]]) -> str:
    """The tag of the image that deploy/image makes of this checkout."""
    assert machine_before
    return engine.build_worker()
