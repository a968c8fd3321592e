"""The engine's process: serves one worker over a socket, and ends where the socket's other end does."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import msgspec

from caesura.worker.adapters.onnx.child_messages import (
    BatchAnswer,
    BatchRequest,
    Channel,
    EngineHeartbeat,
    EngineReady,
    EngineStart,
)
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.errors import CaesuraError, FatalError
from caesura.worker.ports.engine import Engine, EngineWork

_PR_SET_PDEATHSIG = 1
_BEAT_S = 1.0
_OOM_SCORE = "500"
_STATUS_FATAL = 1
_STATUS_RAISED = 70


def onnx_engine(begin: EngineStart) -> tuple[Engine, Mapping[str, str]]:
    """Return a warm engine, and what is doubtful of its models. FatalError where one cannot be used."""
    engine = OnnxEngine(Path(begin.models_folder), active=begin.active, max_kept_bytes=begin.max_kept_bytes)
    engine.warm_up()
    return engine, engine.doubts


def main(descriptor: int, engine_of: Callable[[EngineStart], tuple[Engine, Mapping[str, str]]] = onnx_engine) -> None:
    """Serve the worker at the other end of this socket until it is gone. Ends the process.

    engine_of: makes the engine that is served. Of an error that is not ours the exception's name alone is written: a
    traceback may show a word.
    """
    channel = Channel(socket.socket(fileno=descriptor))
    _follow_the_worker()
    try:
        begin = channel.take(msgspec.msgpack.Decoder(EngineStart))
        if begin.limit_bytes:
            resource.setrlimit(resource.RLIMIT_DATA, (begin.limit_bytes, begin.limit_bytes))
        engine, doubts = engine_of(begin)
        gc.collect()
        gc.freeze()
        channel.send(EngineReady(models=tuple(engine.models), doubts=dict(doubts)))
        _Service(channel, engine).run()
    except CaesuraError as error:
        channel.send(EngineReady(fatal=str(error)))
        sys.exit(_STATUS_FATAL)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        sys.exit(0)
    except Exception as error:  # noqa: BLE001 - whatever it is, its name alone is told
        sys.stderr.write(f"caesura: the engine's process ends: {type(error).__name__}\n")
        sys.exit(_STATUS_RAISED)


def _follow_the_worker() -> None:
    """Leave signals to the worker, end with it, and be what the kernel ends first where memory is short."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    with suppress(OSError, AttributeError):  # elsewhere than on Linux the socket's end alone ends it
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE, encoding="ascii")


class _Service:
    """Answers one batch after another; a thread beats while one is computed."""

    def __init__(self, channel: Channel, engine: Engine) -> None:
        self._channel = channel
        self._engine = engine
        self._lock = threading.Lock()
        self._number = 0
        self._looked_at_s = -_BEAT_S
        self._resident_bytes = 0

    def run(self) -> None:
        """BatchAnswer until the other end is gone. EOFError, OSError; MemoryError ends the process, too."""
        threading.Thread(target=self._beat, name="beats", daemon=True).start()
        decoder = msgspec.msgpack.Decoder(BatchRequest)
        while True:
            ask = self._channel.take(decoder)
            for session in ask.forget:
                self._engine.forget(session)
            self._number = ask.number
            answer = self._answer(ask)
            self._number = 0
            self._say(answer)

    def _answer(self, ask: BatchRequest) -> BatchAnswer:
        try:
            labels = self._engine.label(ask.requests) if ask.requests else []
        except CaesuraError as error:
            fatal = isinstance(error, FatalError)
            return BatchAnswer(ask.number, [], self._work(), str(error), fatal)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - the batch is at fault; its text may show a word
            return BatchAnswer(ask.number, [], self._work(), f"the engine raised {type(error).__name__}")
        return BatchAnswer(ask.number, labels, self._work())

    def _say(self, message: BatchAnswer | EngineHeartbeat) -> None:
        with self._lock:
            self._channel.send(message)

    def _beat(self) -> None:
        """Tell once a second of a batch that is computed for longer than that."""
        seen = 0
        while True:
            time.sleep(_BEAT_S)
            seen, before = self._number, seen
            if seen and seen == before:
                with suppress(OSError):
                    self._say(EngineHeartbeat(seen, self._engine.work.layer_rows))

    def _work(self) -> EngineWork:
        """Return what the engine has done, and what this process has used; its memory is looked at once a second."""
        used, now_s = os.times(), time.monotonic()
        if now_s - self._looked_at_s >= _BEAT_S:
            self._looked_at_s, self._resident_bytes = now_s, _resident_bytes()
        cpu_s = used.user + used.system
        return replace(self._engine.work, cpu_s=cpu_s, resident_bytes=self._resident_bytes)


def _resident_bytes() -> int:
    """Return the memory of this process; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * resource.getpagesize()
