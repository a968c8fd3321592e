"""The demo on a page ends where a part of it has failed: a page on which nothing happens tells nobody why."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

pytest.importorskip("uvicorn")

from caesura.worker.demo.embedded import Cast
from caesura.worker.demo.web import run_web_demo
from caesura.worker.embedded.mock_cluster import mock_cluster
from caesura.worker.errors import FatalError
from caesura.worker.settings.tree import SettingSources, load_settings


def cast_without_worker(act: Callable[[Cast], None]) -> Callable[[], AbstractContextManager[Cast]]:
    """Return parts of which none is a worker; ``act`` is called with them before they are shown."""

    @contextmanager
    def parts() -> Iterator[Cast]:
        names = load_settings(SettingSources(environ={}, flags={"kafka.bootstrap_servers": "unknown"})).worker
        with mock_cluster([names.input_topic, names.segment_topic]) as brokers:
            flags = {"kafka.bootstrap_servers": brokers}
            cast = Cast(load_settings(SettingSources(environ={}, flags=flags)), "parts")
            cast.joined.set()
            act(cast)
            yield cast

    return parts


def show(act: Callable[[Cast], None] = lambda _: None, *, speed: float = 4.0, told: list[str] | None = None) -> None:
    run_web_demo(speed=speed, port=0, tell=(told if told is not None else []).append, parts=cast_without_worker(act))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("after_s", [0.0, 1.0])
def test_a_worker_that_fails_ends_it_and_is_said(after_s: float) -> None:
    told: list[str] = []
    timers: list[threading.Timer] = []

    def fail_later(cast: Cast) -> None:
        timers.append(threading.Timer(after_s, cast.fail, [FatalError("the model cannot be read")]))
        timers[-1].start()

    with pytest.raises(FatalError, match="the model cannot be read"):
        show(fail_later, told=told)
    timers[0].join()
    assert after_s == 0 or "in a browser" in told[0]


@pytest.mark.timeout(60)
def test_a_worker_that_failed_before_the_page_was_there_ends_it() -> None:
    cast_failed = FatalError("the model cannot be read")
    with pytest.raises(FatalError, match="the model cannot be read"):
        show(lambda cast: cast.fail(cast_failed))


@pytest.mark.timeout(60)
def test_speakers_that_fail_end_it_and_it_is_said() -> None:
    with pytest.raises(ZeroDivisionError):
        show(speed=0)  # as no command lets it be


def test_of_several_faults_the_first_one_is_said() -> None:
    cast = Cast(load_settings(SettingSources(environ={}, flags={"kafka.bootstrap_servers": "unknown"})), "parts")
    stopped: list[str] = []
    cast.stop_on_fault(lambda: stopped.append("stop"))
    cast.check()
    assert stopped == []
    cast.fail(FatalError("first"))
    cast.fail(FatalError("second"))
    assert stopped == ["stop", "stop"]
    with pytest.raises(FatalError, match="first"):
        cast.check()
