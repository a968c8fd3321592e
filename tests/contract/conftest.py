"""Which Kafka a contract test gets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Literal, cast

import pytest

from tests.harness.clusters import Cluster, InMemoryCluster, RealCluster

_REAL = ["classic", "consumer"]


def _cluster(request: pytest.FixtureRequest, partitions: int) -> Iterator[Cluster]:
    if request.param == "twin":
        yield InMemoryCluster(partitions)
        return
    protocol = cast("Literal['classic', 'consumer']", request.param)
    with ExitStack() as clients:
        yield RealCluster(request.getfixturevalue("kafka"), protocol, partitions, clients)


def _params(*names: str, long: str = "") -> list[object]:
    marks = {"twin": [], long: [pytest.mark.kafka, pytest.mark.long]}
    return [pytest.param(name, marks=marks.get(name, [pytest.mark.kafka])) for name in names]


# What hangs on the protocol is who holds which partition: with one partition and one protocol the rest is shown.
@pytest.fixture(params=_params("twin", *_REAL, long="consumer"))
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A Kafka whose input topic has one partition."""
    yield from _cluster(request, 1)


@pytest.fixture(params=_params("twin", *_REAL))
def two_partitions(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A Kafka whose input topic has two partitions."""
    yield from _cluster(request, 2)


@pytest.fixture(params=_params("twin", *_REAL))
def six_partitions(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A Kafka whose input topic has six partitions."""
    yield from _cluster(request, 6)


@pytest.fixture(params=_params("twin", "classic"))
def static_members(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A Kafka for static membership, which the classic protocol alone has."""
    yield from _cluster(request, 1)
