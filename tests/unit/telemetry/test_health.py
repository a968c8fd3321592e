"""Alive where the loop moves, ready where it gives no reason against it; served on separate paths."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest

from caesura.worker.errors import FatalError
from caesura.worker.telemetry.health import Health
from caesura.worker.telemetry.http_server import TelemetryServer
from caesura.worker.telemetry.metric_table import METRICS, SEGMENTS, markdown
from caesura.worker.telemetry.metrics import Metrics
from caesura.worker.telemetry.reference import document


class Hand:
    """A clock moved by hand."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_a_worker_is_alive_while_its_loop_moves_and_dead_when_it_has_stood_still() -> None:
    clock = Hand()
    health = Health(clock, max_still_s=30.0)
    health.loop_moved()
    clock.now_s += 30.0
    assert health.why_not_alive() == ()
    clock.now_s += 1.0
    assert health.why_not_alive() == ("the loop has stood still for 31 s",)
    health.loop_moved()
    assert health.why_not_alive() == ()


def test_a_start_may_take_longer_but_not_for_ever() -> None:
    clock = Hand()
    health = Health(clock, max_still_s=30.0, max_start_s=120.0)
    clock.now_s += 120.0
    assert health.why_not_alive() == ()
    clock.now_s += 1.0
    assert health.why_not_alive() == ("the loop has not begun for 121 s",)


def test_a_worker_has_started_once_it_says_so_and_stays_so_however_long_it_waits() -> None:
    clock = Hand()
    health = Health(clock)
    health.went_on()
    clock.now_s += 7.0
    assert health.why_not_started() == ("no model is loaded and warm yet, for 7 s",)
    health.started()
    assert (health.why_not_started(), health.why_not_ready()) == ((), ("starting",))
    clock.now_s += 1000.0
    assert health.why_not_started() == ()


def test_from_its_start_on_a_worker_has_as_long_as_a_turn_and_no_longer() -> None:
    clock = Hand()
    health = Health(clock, max_still_s=30.0, max_start_s=120.0)
    clock.now_s += 100.0
    health.started()
    clock.now_s += 30.0
    assert health.why_not_alive() == ()
    clock.now_s += 1.0
    assert health.why_not_alive() == ("the loop has stood still for 31 s",)


def test_a_long_turn_that_goes_on_is_alive_until_the_group_waits_no_more() -> None:
    clock = Hand()
    health = Health(clock, max_still_s=30.0, max_turn_s=60.0)
    health.loop_moved()
    for _ in range(3):
        clock.now_s += 20.0
        health.went_on()
        assert health.why_not_alive() == ()
    clock.now_s += 1.0
    health.went_on()
    assert health.why_not_alive() == ("a turn of the loop has taken 61 s",)
    health.loop_moved()
    assert health.why_not_alive() == ()


def test_a_turn_may_take_at_least_as_long_as_it_may_stand_still() -> None:
    clock = Hand()
    health = Health(clock, max_still_s=300.0, max_turn_s=60.0)
    health.loop_moved()
    clock.now_s += 300.0
    assert health.why_not_alive() == ()


def test_a_worker_is_not_ready_before_it_says_so_nor_when_it_hangs() -> None:
    clock = Hand()
    health = Health(clock, max_still_s=30.0)
    assert health.why_not_ready() == ("starting",)
    health.loop_moved()
    health.set_unready(())
    assert health.why_not_ready() == ()
    health.set_unready(("draining", "store: StoreError"))
    assert health.why_not_ready() == ("draining", "store: StoreError")
    health.set_unready(())
    clock.now_s += 60.0
    assert health.why_not_ready() == ("the loop has stood still for 60 s",)


@pytest.fixture
def clock() -> Hand:
    return Hand()


@pytest.fixture
def health(clock: Hand) -> Health:
    return Health(clock)


@pytest.fixture
def port(health: Health) -> Iterator[int]:
    metrics = Metrics()
    metrics.add(SEGMENTS, cause="sentence")
    server = TelemetryServer("127.0.0.1", 0, registry=metrics.registry, health=health)
    server.start()
    yield server.port
    server.close()


def get(port: int, path: str) -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


def test_readiness_and_liveness_are_answered_apart_with_every_reason(port: int, health: Health, clock: Hand) -> None:
    health.loop_moved()
    health.set_unready(("draining", "poll: BrokerError"))
    status, body = get(port, "/ready")
    assert (status, json.loads(body)) == (503, {"ready": False, "reasons": ["draining", "poll: BrokerError"]})
    status, body = get(port, "/live")
    assert (status, json.loads(body)) == (200, {"live": True, "reasons": []})
    health.set_unready(())
    assert get(port, "/ready")[0] == 200
    clock.now_s += 1000.0
    assert get(port, "/live")[0] == 503


def test_a_start_is_answered_on_a_path_of_its_own(port: int, health: Health, clock: Hand) -> None:
    clock.now_s += 3.0
    status, body = get(port, "/started")
    assert (status, json.loads(body)) == (
        503,
        {"started": False, "reasons": ["no model is loaded and warm yet, for 3 s"]},
    )
    assert get(port, "/live")[0] == 200
    health.started()
    status, body = get(port, "/started")
    assert (status, json.loads(body)) == (200, {"started": True, "reasons": []})
    assert get(port, "/ready")[0] == 503


def test_metrics_are_served_and_other_paths_are_not(port: int) -> None:
    status, body = get(port, "/metrics?x=1")
    assert status == 200
    assert 'caesura_segments_total{cause="sentence"} 1.0' in body
    status, body = get(port, "/")
    assert (status, json.loads(body)["paths"]) == (404, ["/metrics", "/started", "/live", "/ready"])


def test_a_port_that_is_taken_is_said_by_name(health: Health) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        where = taken.getsockname()[1]
        with pytest.raises(FatalError, match=rf"served on 127.0.0.1:{where} \(worker.http_host, worker.http_port\)"):
            TelemetryServer("127.0.0.1", where, registry=Metrics().registry, health=health)


def answered_at(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), timeout=5).close()
    except ConnectionRefusedError:
        return False
    return True


@pytest.mark.parametrize(
    ("host", "addresses"),
    [("::1", {"::1"}), ("[::1]", {"::1"}), ("::", {"::1", "127.0.0.1"}), ("0.0.0.0", {"127.0.0.1"})],  # noqa: S104
)
def test_an_address_of_ipv6_is_served_on_and_all_of_them_are_those_of_ipv4_too(
    host: str, addresses: set[str], health: Health
) -> None:
    server = TelemetryServer(host, 0, registry=Metrics().registry, health=health)
    server.start()
    try:
        assert {address for address in ("::1", "127.0.0.1") if answered_at(address, server.port)} == addresses
    finally:
        server.close()


def test_a_port_of_ipv6_that_is_taken_is_said_with_the_address_in_brackets(health: Health) -> None:
    with socket.socket(socket.AF_INET6) as taken:
        taken.bind(("::1", 0))
        taken.listen()
        where = taken.getsockname()[1]
        with pytest.raises(FatalError, match=rf"served on \[::1\]:{where}"):
            TelemetryServer("::1", where, registry=Metrics().registry, health=health)


def test_every_metric_is_in_the_table_once_with_its_unit_and_a_meaning() -> None:
    names = [metric.name for metric in METRICS]
    assert len(names) == len(set(names))
    for metric in METRICS:
        assert metric.help.endswith(".")
        assert metric.name.endswith("_total") is (metric.kind == "counter")
        assert bool(metric.buckets) is (metric.kind == "histogram")
        assert f"`{metric.name}`" in markdown()
        assert "session" not in metric.labels


def test_the_page_on_metrics_is_current() -> None:
    page = Path(__file__).resolve().parents[3] / "docs" / "metrics.md"
    assert page.read_text(encoding="utf-8") == document(), "run: make docs"
