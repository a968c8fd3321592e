"""The demo's script, stage and picture; that it runs is shown by an integration test."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from caesura.schemas.segments import Cause, SegmentWord, TranslationSegment
from caesura.worker.demo.embedded import Cast
from caesura.worker.demo.script import TALKS, events
from caesura.worker.demo.stage import Stage
from caesura.worker.demo.view import picture, plain_lines, shares
from caesura.worker.demo.web import run_web_demo
from caesura.worker.embedded.mock_cluster import mock_cluster
from caesura.worker.errors import FatalError
from caesura.worker.settings.tree import SettingSources, load_settings
from tests.harness.segments import a_translation


def word(text: str, punctuation: str = "none", disfluency: str = "O") -> SegmentWord:
    return SegmentWord(text=text, punctuation=punctuation, disfluency=disfluency)  # type: ignore[arg-type]


def segment(
    session: str, *words: SegmentWord, text: str = "", lang: str = "en", end: bool = False
) -> TranslationSegment:
    cause = Cause.END if end else Cause.SENTENCE
    return a_translation(words, text, session=session, cause=cause, lang=lang, session_end=end)


def screen(stage: Stage, *, width: int = 80, height: int = 24) -> str:
    console = Console(width=width, height=height, color_system=None, force_terminal=True, legacy_windows=False)
    with console.capture() as capture:
        console.print(picture(stage, "parts", width=width, height=height))
    return capture.get()


def heard(*sessions: str) -> Stage:
    stage = Stage()
    for timed in events():
        if timed.event.session in sessions:
            stage.hear(timed.event)
    return stage


def test_the_script_is_numbered_in_order_and_ends_every_session() -> None:
    for talk in TALKS:
        own = [timed for timed in events() if timed.event.session == talk.speaker]
        assert [timed.event.seq for timed in own] == list(range(len(own)))
        assert [timed.event.session_end for timed in own] == [False] * (len(own) - 1) + [True]
        assert [timed.event.words[0].text for timed in own] == talk.text.replace("|", " ").split()


def test_the_script_has_crosstalk_two_languages_and_half_a_minute() -> None:
    times = {talk.speaker: [one.at_ms for one in events() if one.event.session == talk.speaker] for talk in TALKS}
    begins_and_ends = sorted((min(of), max(of)) for of in times.values())
    assert any(second_begins < first_ends for (_, first_ends), (second_begins, _) in pairwise(begins_and_ends))
    assert {talk.lang for talk in TALKS} == {"en", "zh"}
    assert max(end for _, end in begins_and_ends) < 30_000


def test_words_are_pending_until_they_are_published() -> None:
    stage = heard("Anna")
    speaker = stage.speakers["Anna"]
    stage.publish(segment("Anna", word("good"), word("morning", "period")))
    assert speaker.pending[:2] == ["everybody", "can"]
    assert stage.faults() == ["Anna"]


def test_the_rest_of_a_unit_that_was_published_in_part_is_pending() -> None:
    stage = heard("小陈")
    stage.publish(segment("小陈", word("大家"), lang="zh"))
    assert stage.speakers["小陈"].pending[0] == "早上好"


def test_what_was_published_wrongly_is_a_fault() -> None:
    stage = heard("Ben")
    units = stage.speakers["Ben"].heard
    stage.publish(segment("Ben", *(word(unit) for unit in units), end=True))
    assert (stage.ended, stage.faults()) == (True, [])
    stage.publish(segment("Ben", word("yes"), end=True))
    assert stage.faults() == ["Ben"]


def test_the_picture_fits_a_small_terminal_and_shows_the_latest_words() -> None:
    stage = heard("Anna", "Ben", "Carla", "小陈")
    shown = screen(stage, width=80, height=24)
    assert len(shown.splitlines()) <= 24
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert "packed them" in shown


def test_a_small_terminal_keeps_its_head_whole_to_the_end() -> None:
    stage = heard("Anna", "Ben", "Carla", "小陈")
    console = Console(width=80, height=24, color_system=None, force_terminal=True, legacy_windows=False)
    parts = "Kafka: librdkafka's mock cluster · a real redis-server · one worker, its model on this CPU"
    with console.capture() as captured:
        console.print(picture(stage, parts, width=80, height=20))
    shown = captured.get().splitlines()
    assert len(shown) <= 20
    assert [line.rstrip() for line in shown[:2]] == [
        "caesura  Kafka: librdkafka's mock cluster · a real redis-server · one worker,",
        "its model on this CPU",
    ]


@given(needs=st.lists(st.integers(1, 9), min_size=1, max_size=8), lines=st.integers(0, 60))
def test_lines_are_shared_by_need(needs: list[int], lines: int) -> None:
    given_lines = shares(needs, lines)
    assert sum(given_lines) == max(len(needs), min(lines, sum(needs)))
    assert all(1 <= one <= need for one, need in zip(given_lines, needs, strict=True))


def test_the_picture_has_marks_and_captions_of_frozen_words() -> None:
    stage = heard("Anna")
    stage.publish(
        segment("Anna", word("good"), word("morning", "comma"), word("everybody", "period"), text="Good day.")
    )
    shown = screen(stage, height=60)
    assert "good morning, everybody. can you" in shown
    assert "▸ Good day." in shown


def test_without_a_terminal_a_segment_is_two_lines() -> None:
    lines = list(plain_lines(segment("Ben", word("um", disfluency="B-IM"), word("yes", "period"), text="Yes."), 1.0))
    assert "{um}" in lines[0].lower()
    assert lines[1].strip() == "> Yes."


def test_a_record_that_only_closes_a_session_is_no_line() -> None:
    assert list(plain_lines(segment("Ben", end=True), 1.0)) == []


pytest.importorskip("uvicorn")


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
    assert after_s == 0 or "in a browser" in told[1]


@pytest.mark.timeout(60)
def test_a_worker_that_failed_before_the_page_was_there_ends_it() -> None:
    cast_failed = FatalError("the model cannot be read")
    with pytest.raises(FatalError, match="the model cannot be read"):
        show(lambda cast: cast.fail(cast_failed))


@pytest.mark.timeout(60)
def test_speakers_that_fail_end_it_and_it_is_said() -> None:
    with pytest.raises(ZeroDivisionError):
        show(speed=0)  # as no command lets it be


def test_the_first_of_several_faults_is_raised() -> None:
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
