"""The engine in a process of its own: what kills or stops it is an ``EngineError`` of the batch that it worked on.

Rules:

1. One batch at a time. Where the process ends, or a batch stands still beyond the deadline, the process is killed and
   another one started. The batch raises an ``EngineError``; the caller decides whether to ask again
   (``labelling``: session by session, and one that fails twice alone goes on unlabelled).
2. A process that ended between two batches is replaced, and no batch is blamed.
3. More than ``max_deaths`` within ``_DEATHS_WITHIN_S`` are a ``FatalError``. Deaths by a session that is found do not
   count: it has killed the process twice alone, so whoever asks goes on without it.
4. The process keeps a cache of what buffers begin with, so nothing has to be told to its successor.
5. It cannot outlive this process: it ends where the socket does, and the kernel kills it where it is stuck.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import msgspec
from typing_extensions import override

from caesura.schemas.labels import Labels
from caesura.worker.adapters.onnx.child_messages import (
    BatchAnswer,
    BatchRequest,
    Channel,
    EngineHeartbeat,
    EngineReady,
    EngineStart,
)
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.errors import EngineError, FatalError
from caesura.worker.ports.engine import Engine, EngineModel, EngineWork

_PROCESS = f"{__package__}.child_process"
_RUN = f"import sys; sys.path[:] = sys.argv[2:]; from {_PROCESS} import main; main(int(sys.argv[1]))"
_READY_S = 120.0
_ENDS_S = 5.0
_MOST_FORGOTTEN = 1024
_MAX_DEATHS = 5
_DEATHS_WITHIN_S = 60.0
_ALONE_TWICE = 2


class ChildEngine(Engine):
    """``caesura.worker.ports.engine.Engine`` over a child process that holds an ``OnnxEngine``. One thread owns it."""

    def __init__(  # noqa: PLR0913 - an engine's options
        self,
        models_folder: Path,
        *,
        active: Sequence[str] = (),
        max_kept_bytes: int,
        limit_bytes: int = 0,
        deadline_s: float,
        max_deaths: int = _MAX_DEATHS,
        on_progress: Callable[[], None] = lambda: None,
        run: str = _RUN,
    ) -> None:
        """Start a process, its models warm. FatalError where one cannot be used.

        max_kept_bytes: of rows kept between steps. limit_bytes: the most data memory of the process; 0: no limit.
        deadline_s: how long a batch may stand still. on_progress: called wherever a batch, or a restart, goes on.
        run: the program of the process, given a descriptor and ``sys.path``.
        """
        self._settings = EngineStart(
            models_folder=str(models_folder),
            active=tuple(active),
            max_kept_bytes=max_kept_bytes,
            limit_bytes=limit_bytes,
        )
        self._deadline_s = deadline_s
        self._max_deaths = max_deaths
        self._on_progress = on_progress
        self._run = run
        self._answers = msgspec.msgpack.Decoder(BatchAnswer | EngineHeartbeat)
        self._number = 0
        self._forgotten: list[str] = []
        self._before = self._work = EngineWork()
        self._deaths: deque[tuple[float, frozenset[str]]] = deque()
        self._process, self._channel, self._ready = self._started()

    @property
    def doubts(self) -> Mapping[str, str]:
        """Why the labels of some models on this processor are not what their weights say, by the model's name."""
        return self._ready.doubts

    @property
    def pid(self) -> int:
        """The number of the process that lives now."""
        return self._process.pid

    @property
    @override
    def models(self) -> Sequence[EngineModel]:
        return self._ready.models

    @property
    @override
    def work(self) -> EngineWork:
        before, now = self._before, self._work
        return EngineWork(
            layer_rows=before.layer_rows + now.layer_rows,
            begun_buffers=before.begun_buffers + now.begun_buffers,
            evicted_sessions=before.evicted_sessions + now.evicted_sessions,
            kept_sessions=now.kept_sessions,
            kept_bytes=now.kept_bytes,
            restarts=before.restarts,
            cpu_s=before.cpu_s + now.cpu_s,
            resident_bytes=now.resident_bytes,
        )

    @override
    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        """Label each request, in their order. FatalError: unknown model, or the process ends again and again."""
        if self._process.poll() is not None:
            self._note_death(frozenset())
            self._restart()
        self._number += 1
        ask = BatchRequest(self._number, tuple(self._forgotten), tuple(requests))
        self._forgotten.clear()
        self._on_progress()
        try:
            self._channel.socket.settimeout(self._deadline_s)
            self._channel.send(ask)
            answer = self._answer()
        except TimeoutError:
            self._fail(f"stood still for {self._deadline_s:.1f} s", requests)
        except (OSError, EOFError, msgspec.DecodeError):
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(1.0)
            self._fail(f"ended with status {self._process.poll()}", requests)
        self._work = answer.work
        if answer.error is not None:
            raise (FatalError if answer.fatal else EngineError)(answer.error)
        return answer.labels

    @override
    def forget(self, session: str) -> None:
        self._forgotten.append(session)
        if len(self._forgotten) >= _MOST_FORGOTTEN:
            with suppress(EngineError):
                self.label([])

    @override
    def warm_up(self) -> None:
        """Do nothing: the process has warmed up before it was ready."""

    def close(self) -> None:
        """End the process, and wait until it has ended; closing twice is harmless. At the latest it is done at exit."""
        self._end()

    def _answer(self) -> BatchAnswer:
        """Wait for the answer. TimeoutError: no rows were computed for too long. EOFError, OSError: it is gone."""
        rows, until_s = -1, time.monotonic() + self._deadline_s
        while True:
            self._channel.socket.settimeout(max(0.001, until_s - time.monotonic()))
            said = self._channel.take(self._answers)
            if said.number != self._number:
                continue
            if isinstance(said, BatchAnswer):
                return said
            if said.layer_rows != rows:
                rows, until_s = said.layer_rows, time.monotonic() + self._deadline_s
                self._on_progress()

    def _fail(self, why: str, requests: Sequence[LabelRequest]) -> NoReturn:
        self._note_death(frozenset(one.session for one in requests))
        self._restart()
        raise EngineError(f"the engine's process {why}, with a batch of {len(requests)} sessions")

    def _note_death(self, sessions: frozenset[str]) -> None:
        """Count a death. FatalError where there were too many. One that killed it twice alone is found: none of it."""
        now_s = time.monotonic()
        self._deaths.append((now_s, sessions))
        alone = [one for _, one in self._deaths if len(one) == 1 and one == sessions]
        if len(alone) >= _ALONE_TWICE:
            self._deaths = deque((at_s, one) for at_s, one in self._deaths if not sessions <= one)
        while self._deaths and now_s - self._deaths[0][0] > _DEATHS_WITHIN_S:
            self._deaths.popleft()
        if len(self._deaths) > self._max_deaths:
            raise FatalError(f"the engine's process ended {len(self._deaths)} times within {_DEATHS_WITHIN_S:.0f} s")

    def _restart(self) -> None:
        """Kill what is left of the process, and start another one. FatalError where that does not start."""
        self._process.kill()
        self._end()
        work = self.work
        self._before = EngineWork(
            layer_rows=work.layer_rows,
            begun_buffers=work.begun_buffers,
            evicted_sessions=work.evicted_sessions + work.kept_sessions,
            restarts=work.restarts + 1,
            cpu_s=work.cpu_s,
        )
        self._work = EngineWork()
        self._on_progress()
        self._process, self._channel, self._ready = self._started()
        self._on_progress()

    def _started(self) -> tuple[subprocess.Popen[bytes], Channel, EngineReady]:
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and program
                [sys.executable, "-I", "-c", self._run, str(theirs.fileno()), *sys.path],
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr.fileno() if sys.stderr is not None and _has_descriptor() else subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        channel = Channel(ours)
        ours.settimeout(_READY_S)
        try:
            channel.send(self._settings)
            ready = channel.take(msgspec.msgpack.Decoder(EngineReady))
        except (OSError, EOFError) as error:
            fatal = f"the engine's process did not start: {type(error).__name__}"
        else:
            if ready.fatal is None:
                self._end = weakref.finalize(self, _end, process, ours)
                return process, channel, ready
            fatal = ready.fatal
        process.kill()
        process.wait()
        ours.close()
        raise FatalError(fatal)


def _end(process: subprocess.Popen[bytes], ours: socket.socket) -> None:
    """End a process by closing its socket; kill it where that is not enough."""
    ours.close()
    try:
        process.wait(_ENDS_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _has_descriptor() -> bool:
    """Tell whether standard error is a file: a test may have put something else in its place."""
    try:
        sys.stderr.fileno()
    except (OSError, ValueError):
        return False
    return True
