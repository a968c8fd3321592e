"""A log line holds what is on the list and nothing else."""

from __future__ import annotations

import io
import json
import logging
import sys
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.errors import BrokerError
from caesura.worker.telemetry.log import failure_fields, forward_library_logs, log_uncaught, make_log
from caesura.worker.telemetry.log_fields import withhold_unknown

CANARY = "zwieselhausen"
spoken = st.lists(st.text(min_size=1), min_size=2).map(" ".join)


@pytest.fixture
def logging_restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    hooks = sys.excepthook, threading.excepthook
    yield
    root.handlers = handlers
    root.setLevel(level)
    sys.excepthook, threading.excepthook = hooks


def fail() -> None:
    raise KeyError(CANARY)


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_json_with_level_and_time() -> None:
    stream = io.StringIO()
    make_log(stream, deployment="blue").warning("not_ready", reasons=["no leader"])
    (line,) = lines(stream)
    assert line.pop("timestamp")
    assert line == {"event": "not_ready", "level": "warning", "deployment": "blue", "reasons": ["no leader"]}


def test_an_unknown_field_is_withheld_and_named() -> None:
    stream = io.StringIO()
    make_log(stream).warning("dead_letter", text=CANARY, partition=1)
    (line,) = lines(stream)
    assert (line["partition"], line["withheld"]) == (1, ["text"])
    assert CANARY not in stream.getvalue()


@given(spoken, st.text())
def test_running_text_gets_through_no_field_of_names_or_numbers(said: str, key: str) -> None:
    names = ("event", "reason", "outcome", "partition", "which", "step_ms", "dropped", "offset", "peer", "error")
    line: dict[str, object] = dict.fromkeys(names, said)
    line |= {f"unknown {key}": said, "sessions": [said], "took_ms": {said: 1}}
    kept = withhold_unknown(None, "info", line)
    assert set(kept) == {"withheld"}
    assert said not in str(kept["withheld"])


def test_a_nested_value_is_looked_into() -> None:
    line: dict[str, object] = {"step_ms": {CANARY + " said": 1.0}, "which": [1, CANARY], "dropped": {1: f"a {CANARY}"}}
    assert withhold_unknown(None, "info", line) == {"withheld": ["dropped", "step_ms", "which"]}


def test_a_librarys_error_is_logged_without_its_text_and_ours_with_it() -> None:
    assert failure_fields(ValueError(CANARY)) == {"error": "ValueError", "frames": []}
    assert failure_fields(BrokerError("no leader"))["detail"] == "no leader"


@pytest.mark.usefixtures("logging_restored")
def test_only_librdkafkas_log_text_is_kept() -> None:
    stream = io.StringIO()
    forward_library_logs(make_log(stream))
    logging.getLogger("redis.cluster").error("command %s failed", CANARY)
    logging.getLogger("redis.cluster").debug("command %s", CANARY)
    logging.getLogger("caesura.kafka").warning("broker 3 is down")
    try:
        fail()
    except KeyError:
        logging.getLogger("urllib3").exception(CANARY)
    assert CANARY not in stream.getvalue()
    assert [(line["event"], line.get("logger"), line.get("kafka")) for line in lines(stream)] == [
        ("foreign_log", "redis.cluster", None),
        ("kafka_log", None, "broker 3 is down"),
        ("foreign_log", "urllib3", None),
    ]
    assert lines(stream)[2]["error"] == "KeyError"


@pytest.mark.usefixtures("logging_restored")
def test_what_libraries_repeat_is_logged_once_a_minute() -> None:
    stream = io.StringIO()
    forward_library_logs(make_log(stream))
    for _ in range(100):
        logging.getLogger("redis").error("an answer failed")
        logging.getLogger("urllib3").error("an answer failed")
    assert [line["logger"] for line in lines(stream)] == ["redis", "urllib3"]


@pytest.mark.usefixtures("logging_restored")
def test_a_call_that_librdkafka_repeats_by_itself_is_no_warning() -> None:
    stream = io.StringIO()
    forward_library_logs(make_log(stream))
    logging.getLogger("caesura.kafka").warning("no producer id: Not coordinator: retrying")
    logging.getLogger("caesura.kafka").warning("broker 3 is down")
    assert [line["level"] for line in lines(stream)] == ["info", "warning"]


@pytest.mark.usefixtures("logging_restored")
def test_repeated_librdkafka_lines_are_logged_once_a_minute() -> None:
    stream = io.StringIO()
    forward_library_logs(make_log(stream))

    def say(text: str, at_s: float) -> None:
        made = logging.makeLogRecord({"name": "caesura.kafka", "levelno": logging.ERROR, "msg": text, "created": at_s})
        logging.getLogger().handlers[0].handle(made)

    for at_s in range(59):
        say(f"b-1:9092: refused (after {at_s}ms in state CONNECT, {at_s} identical error(s) suppressed)", 1000.0 + at_s)
        say(f"b-2:9092: refused (after {at_s}ms in state CONNECT)", 1000.0 + at_s)
    say("b-1:9092: refused (after 3ms in state CONNECT)", 1060.0)
    assert [str(line["kafka"])[:8] for line in lines(stream)] == ["b-1:9092", "b-2:9092", "b-1:9092"]


@pytest.mark.usefixtures("logging_restored")
def test_an_uncaught_error_ends_in_a_line_without_its_text(capsys: pytest.CaptureFixture[str]) -> None:
    stream = io.StringIO()
    log_uncaught(make_log(stream))
    try:
        fail()
    except KeyError as error:
        sys.excepthook(type(error), error, error.__traceback__)
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    assert [(line["event"], line["error"]) for line in lines(stream)] == [("failed", "KeyError")] * 2
    assert "fail" in str(lines(stream)[1]["frames"])
    assert CANARY not in stream.getvalue() + "".join(capsys.readouterr())
