"""Alive where the loop moves, ready where it gives no reason against it; served on separate paths."""

from __future__ import annotations

import asyncio
import json
import resource
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from caesura.worker.errors import FatalError
from caesura.worker.telemetry.connection_limits import ConnectionLimits, Peer, most_sockets
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


def test_a_worker_is_alive_while_its_loop_moves_and_dead_when_it_stops() -> None:
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


def test_a_started_worker_stays_started_however_long_it_waits() -> None:
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


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("::1", r"\[::1\]")])
def test_a_port_that_is_taken_is_said_by_name(host: str, shown: str, health: Health) -> None:
    with socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as taken:
        where = taken.getsockname()[1]
        with pytest.raises(FatalError, match=rf"served on {shown}:{where} \(worker.http_host, worker.http_port\)"):
            TelemetryServer(host, where, registry=Metrics().registry, health=health)


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


HALF = b"GET /live HTTP/1.1\r\nX: "


@pytest.fixture
def server() -> Iterator[TelemetryServer]:
    served = TelemetryServer("127.0.0.1", 0, registry=Metrics().registry, health=Health(lambda: 0.0))
    served.start()
    yield served
    served.close()


def reached(server: TelemetryServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=60)


def status_of(server: TelemetryServer, path: str, method: str = "GET") -> int:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request(method, path)
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.parametrize("said", [b"", HALF, b"GET /metrics HTTP/1.1\r\n\r\n" * 50])
def test_five_hundred_sockets_take_no_thread_and_an_honest_probe_is_answered(
    said: bytes, server: TelemetryServer
) -> None:
    threads = threading.active_count()
    with ExitStack() as stack:
        for _ in range(min(500, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4)):
            stranger = stack.enter_context(reached(server))
            stranger.sendall(said)
        assert threading.active_count() == threads
        assert status_of(server, "/live") == 200


def test_a_request_that_drips_is_cut_off(server: TelemetryServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server._socket.doorway, "_within_s", 0.3)
    with reached(server) as stranger:
        stranger.sendall(HALF)
        ended = threading.Event()

        def drip() -> None:
            while not ended.wait(0.05):
                try:
                    stranger.sendall(b"a")
                except OSError:
                    return

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            assert _is_over(stranger)
        finally:
            ended.set()
            thread.join()


def _is_over(stranger: socket.socket) -> bool:
    try:
        return stranger.recv(4096) == b""
    except ConnectionError:
        return True


def test_malformed_requests_and_resets_write_no_traceback(
    server: TelemetryServer, capfd: pytest.CaptureFixture[str]
) -> None:
    for said in (b"\x00" * 100, b"GET / HTTP/9\r\n\r\n", b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"):
        with reached(server) as stranger:
            stranger.sendall(said)
            stranger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert status_of(server, "/live") == 200
    assert "Traceback" not in capfd.readouterr().err


def test_only_get_and_head_are_answered(server: TelemetryServer) -> None:
    assert status_of(server, "/metrics", "POST") == 405
    assert status_of(server, "/metrics", "HEAD") == 200


HOUR_S = 3600.0


class Visitors:
    """Pairs of connected sockets, one end each the doorway's. ``cut_off`` tells who sees the end of it."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._far: dict[Peer, socket.socket] = {}

    def come(self, doorway: ConnectionLimits, number: int) -> bool:
        near, far = (self._stack.enter_context(one) for one in socket.socketpair())
        far.settimeout(0)
        self._far[peer(number)] = far
        return doorway.came(near, peer(number))

    def cut_off(self) -> list[int]:
        return [number for (_, number), far in self._far.items() if _sees_the_end(far)]


def _sees_the_end(far: socket.socket) -> bool:
    try:
        return far.recv(1) == b""
    except BlockingIOError:
        return False


def peer(number: int) -> Peer:
    return "127.0.0.1", number


@contextmanager
def visitors() -> Iterator[Visitors]:
    with ExitStack() as stack:
        yield Visitors(stack)


def test_a_newcomer_takes_the_place_of_the_one_that_has_waited_longest() -> None:
    async def scene() -> None:
        with visitors() as visiting:
            doorway = ConnectionLimits(most=3, within_s=HOUR_S)
            assert all(visiting.come(doorway, number) for number in (1, 2, 3))
            doorway.answered(peer(1))
            doorway.upgraded(peer(2))
            assert visiting.come(doorway, 4)
            assert visiting.cut_off() == [3]
            assert visiting.come(doorway, 5)
            assert visiting.cut_off() == [1, 3]
            assert len(doorway) == 3
            rounds = [doorway.is_making_room]
            await asyncio.sleep(0)
            assert [*rounds, doorway.is_making_room] == [True, False]

    asyncio.run(scene())


def test_an_accepted_client_is_never_cut_off() -> None:
    async def scene() -> None:
        with visitors() as visiting:
            doorway = ConnectionLimits(most=2, within_s=HOUR_S)
            for number in (1, 2):
                visiting.come(doorway, number)
                doorway.let_in(peer(number))
            assert not visiting.come(doorway, 3)
            assert visiting.cut_off() == []
            doorway.let_out(peer(2))
            assert visiting.come(doorway, 3)
            assert visiting.cut_off() == [2]

    asyncio.run(scene())


def test_the_place_of_a_socket_that_is_closed_is_free() -> None:
    async def scene() -> None:
        with visitors() as visiting:
            doorway = ConnectionLimits(most=1, within_s=HOUR_S)
            for number in range(3):
                assert visiting.come(doorway, number)
                doorway.let_in(peer(number))
                doorway.left(peer(number))
                doorway.left(peer(number))
            assert visiting.cut_off() == []

    asyncio.run(scene())


def test_idle_connections_are_closed_but_websockets_are_not() -> None:
    async def scene() -> None:
        with visitors() as visiting:
            doorway = ConnectionLimits(most=9, within_s=0.0)
            for number in (1, 2, 3):
                visiting.come(doorway, number)
            doorway.upgraded(peer(2))
            doorway.let_in(peer(3))
            await asyncio.sleep(0.001)  # what is due comes before it
            assert visiting.cut_off() == [1]
            assert len(doorway) == 2

    asyncio.run(scene())


def test_there_are_fewer_sockets_than_the_process_may_open_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 4096))
    assert most_sockets(512) == 512
    assert 512 < most_sockets(100_000) < 1024
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert most_sockets(100_000) == 100_000
