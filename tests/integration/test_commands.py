"""The commands on a real Kafka and a real Redis, as an operator uses them: topics, check, worker, replay, tail."""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from websockets.exceptions import InvalidMessage
from websockets.sync.client import connect

from caesura.worker.embedded.guarded_process import free_port
from tests.harness.command import CAESURA, outside, started
from tests.harness.parts.certificates import Certificates
from tests.harness.places import ROOT
from tests.harness.rehearsal import Rehearsal
from tests.harness.service import close_of, received, texts
from tests.harness.waiting import wait_until

SPOKEN = "good morning everybody um can you all hear me how are you today\n"


def test_topics_are_made_once_and_checked(rehearsal: Rehearsal) -> None:
    planned = rehearsal.run("topics", "create", "--partitions", "2", "--dry-run").stdout
    assert planned.count("would be made") == 5
    assert rehearsal.run("topics", "create", "--partitions", "2").stdout.count(": made (") == 5
    assert rehearsal.run("topics", "create", "--partitions", "2").stdout.count("as it must be") == 5
    told = rehearsal.run("topics", "create", "--partitions", "3", status=1).stderr
    assert "has 2 partitions" in told


def test_check_names_missing_and_good_things(rehearsal: Rehearsal) -> None:
    before = rehearsal.run("check", status=1).stdout
    assert f"BAD      topic {rehearsal.deployment}.asr.words: it is missing" in before
    to_come = rehearsal.run("check", "--topics-follow").stdout
    assert f"warn     topic {rehearsal.deployment}.asr.words: it is missing" in to_come
    rehearsal.run("topics", "create", "--partitions", "2")
    after = rehearsal.run("check").stdout
    assert "BAD" not in after
    assert "good     model en" in after
    assert "good     redis answer" in after


@pytest.mark.parametrize("command", [("tail", "--no-follow"), ("dead-letters", "list"), ("replay", "CONTRIBUTING.md")])
def test_a_command_whose_topic_is_missing_says_how_to_make_it(rehearsal: Rehearsal, command: tuple[str, ...]) -> None:
    told = rehearsal.run(*command, status=1).stderr
    assert f"there is no topic {rehearsal.deployment}." in told
    assert "`caesura topics create` makes it" in told


def test_a_worker_without_a_topic_to_publish_to_refuses_to_start_and_names_it(rehearsal: Rehearsal) -> None:
    rehearsal.make_topics(1)
    rehearsal.changes["CAESURA_WORKER_ROUTES"] = f"de={rehearsal.deployment}.nowhere"
    told = [json.loads(line) for line in rehearsal.run("worker", status=1).stdout.splitlines()]
    assert "ready" not in {line["event"] for line in told}
    assert told[-1]["event"] == "failed"
    assert f"there is no topic {rehearsal.deployment}.nowhere" in told[-1]["detail"]


def test_an_empty_dead_letter_topic_is_reported(rehearsal: Rehearsal) -> None:
    rehearsal.make_topics(1)
    listed = rehearsal.run("dead-letters", "list", "--reason", "malformed")
    assert (listed.stdout, listed.stderr) == ("", "there are no dead letters of reason 'malformed'\n")
    assert rehearsal.run("dead-letters", "replay", "--all").stderr == "there are no dead letters\n"


def test_only_a_partition_that_there_is_can_be_unparked(rehearsal: Rehearsal) -> None:
    rehearsal.make_topics(2)
    assert "has no partition 2, only 0 to 1" in rehearsal.run("unpark", "2", status=1).stderr
    assert "partition 1 of" in rehearsal.run("unpark", "1").stdout


def test_a_broker_or_redis_that_is_away_is_named_by_its_address(rehearsal: Rehearsal) -> None:
    rehearsal.make_topics(1)
    rehearsal.changes["CAESURA_REDIS_ADDRESSES"] = "127.0.0.1:1"
    assert "to be claimed again" in rehearsal.run("unpark", "0").stdout
    assert "asking 127.0.0.1:1 for a sign of life" in rehearsal.run("check", status=1).stdout
    rehearsal.changes["CAESURA_KAFKA_BOOTSTRAP_SERVERS"] = "127.0.0.1:2"
    rehearsal.changes["CAESURA_KAFKA_REQUEST_TIMEOUT_MS"] = "1000"
    assert (
        "127.0.0.1:2: connection refused: nothing listens there"
        in rehearsal.run("tail", "--no-follow", status=1).stderr
    )


def test_check_never_shows_a_secret(rehearsal: Rehearsal) -> None:
    rehearsal.changes["CAESURA_REDIS_USERNAME"] = "worker"
    rehearsal.changes["CAESURA_REDIS_PASSWORD"] = "open-sesame"
    shown = rehearsal.run("check", status=1)
    assert "open-sesame" not in shown.stdout + shown.stderr
    assert "redis.password=(set, not shown)" in shown.stdout


@pytest.mark.timeout(180)
def test_words_replayed_into_a_running_worker_come_out_labelled(rehearsal: Rehearsal, tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text(SPOKEN * 3)
    rehearsal.make_topics(2)
    with rehearsal.worker():
        replayed = rehearsal.run("replay", str(tmp_path / "talk.txt"), "--speed", "0", "--prefix", "talk-")
        assert "3 sessions" in replayed.stderr
        tail = ("tail", "--from-start", "--no-follow", "--jsonl")
        shown = rehearsal.until(lambda out: out.count('"session_end":true') == 3, *tail)
    for session in ("talk-1", "talk-2", "talk-3"):
        segments = [one for one in map(json.loads, shown.splitlines()) if one["session"] == session]
        assert [word["text"] for one in segments for word in one["words"]] == SPOKEN.split()
    rendered = rehearsal.run("tail", "--from-start", "--no-follow", "--session", "talk-2", "--style", "verbatim").stdout
    assert "good morning" in rendered
    assert "talk-1" not in rendered
    mistyped = rehearsal.run("tail", "--from-start", "--no-follow", "--session", "talk-9")
    assert (mistyped.stdout, mistyped.stderr.count("read, none of session 'talk-9'")) == ("", 1)


@pytest.mark.timeout(180)
def test_json_goes_in_and_comes_out_where_it_is_asked_for(rehearsal: Rehearsal) -> None:
    rehearsal.changes["CAESURA_WORKER_WIRE_FORMAT"] = "json"
    rehearsal.changes["CAESURA_WORKER_ROUTES"] = f"de={rehearsal.deployment}.de"
    rehearsal.make_topics(1)
    words = [{"text": word} for word in SPOKEN.split()]
    event = {"version": "1.0", "session": "a", "seq": 0, "lang": "en", "words": words, "targets": ["de"]}
    with rehearsal.worker():
        rehearsal.send((json.dumps(event | {"session_end": True}, indent=1).encode(), b"a"))
        tail = ("tail", "--from-start", "--no-follow", "--jsonl")
        shown = rehearsal.until(lambda out: out.count('"session_end":true') == 1, *tail)
        routed = rehearsal.run(*tail, "--route", "de").stdout
    assert [word["text"] for line in shown.splitlines() for word in json.loads(line)["words"]] == SPOKEN.split()
    assert [json.loads(line)["target"] for line in routed.splitlines()]
    for topic in ("asr.segments", "de"):
        values = rehearsal.values(topic)
        assert values
        assert all(json.loads(value)["session"] == "a" for value in values), "any reader of JSON can read it"


@pytest.mark.timeout(180)
def test_a_dead_letter_is_listed_shown_and_sent_again(rehearsal: Rehearsal) -> None:
    rehearsal.make_topics(1)
    with rehearsal.worker():
        rehearsal.send((b"\xc1 no event at all", b"broken"))
        listed = rehearsal.until(lambda out: "malformed" in out, "dead-letters", "list")
        mistyped = rehearsal.run("dead-letters", "replay", "--reason", "malfromed").stderr
        assert mistyped == "there are no dead letters of reason 'malfromed'; there are some of malformed\n"
        shown = rehearsal.run("dead-letters", "show", "0:0", "--content").stdout
        again = rehearsal.run("dead-letters", "replay", "0:0").stderr
        twice = rehearsal.until(lambda out: out.count("malformed") == 2, "dead-letters", "list")
    assert f"{rehearsal.deployment}.asr.words 0:0" in listed
    assert "no event at all" not in listed
    assert "no event at al" in shown
    assert "sent 1 of 1 again" in again
    assert f"{rehearsal.deployment}.asr.words 0:1" in twice


@pytest.mark.timeout(180)
def test_replay_reports_published_words_and_warns_of_ended_sessions(rehearsal: Rehearsal, tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text(SPOKEN)
    rehearsal.make_topics(2)
    replay = ("replay", str(tmp_path / "talk.txt"), "--speed", "0", "--prefix", "call-", "--wait", "--wait-for", "50")
    words = len(SPOKEN.split())
    with rehearsal.worker():
        first = rehearsal.run(*replay).stderr
        assert "sessions: call-1\n" in first
        assert f"{words} words published, none refused" in first
        assert "has ended" not in first
        again = rehearsal.run(*replay, status=1).stderr
        assert again.index("session call-1 has ended") < again.index("sessions: call-1")
        assert f"0 words published, {words} refused ({words} session_ended)" in again
        (tmp_path / "said.jsonl").write_text(
            '{"result": [{"word": "yes", "start": 0.1, "end": 0.4, "conf": 1.0}], "text": "yes"}\n'
        )
        bridge = ("bridge", str(tmp_path / "said.jsonl"), "--from", "vosk", "--session", "call-9/a", "--wait")
        bridged = rehearsal.run(*bridge, "--conversation", "call-9", "--role", "agent").stderr
        assert "sessions: call-9/a\n" in bridged
        assert "1 words published, none refused" in bridged
        refused = rehearsal.run(*bridge, status=1).stderr
        assert "session call-9/a has ended" in refused
        assert "0 words published, 1 refused (1 session_ended)" in refused
    unheard = rehearsal.run(*replay[:-5], "--wait", "--wait-for", "2", status=1).stderr
    assert "no news for 2 s: does a worker run?" in unheard


pytestmark = pytest.mark.timeout(120)

_NOBODY = "127.0.0.1:9"


@contextmanager
def _worker(log: Path, **variables: str) -> Iterator[int]:
    """Run the command without brokers and Redis; yield the port that answers for it."""
    port = free_port()
    environ = outside() | {
        "CAESURA_KAFKA_BOOTSTRAP_SERVERS": _NOBODY,
        "CAESURA_REDIS_ADDRESSES": _NOBODY,
        "CAESURA_WORKER_HTTP_PORT": str(port),
        **{f"CAESURA_{name}": value for name, value in variables.items()},
    }
    with log.open("w") as out, started(*CAESURA, "worker", environ=environ, stdout=out, stderr=out) as process:
        yield port
        process.kill()  # one that reads a model hears no signal


def _asked(port: int, path: str) -> tuple[int, list[str]]:
    """Return an answer's status and reasons; 0 where nobody answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=30) as answer:
            return int(answer.status), list(json.load(answer)["reasons"])
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, list(json.load(refusal)["reasons"])
    except OSError:
        return 0, []


def test_a_worker_whose_brokers_are_away_has_started_and_lives_and_is_not_ready(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with _worker(log, WORKER_COMMIT_TIMEOUT_S="0.5", KAFKA_REQUEST_TIMEOUT_MS="300000") as port:
        wait_until(lambda: _asked(port, "started")[0] == 200, log.read_text, within_s=60.0)
        assert '"started"' not in log.read_text(), "it was said after brokers had been waited for"
        wait_until(lambda: len(_asked(port, "ready")[1]) > 1, log.read_text, within_s=60.0)
        assert _asked(port, "ready") == (503, ["starting", "start: BrokerError"])
        assert _asked(port, "started") == _asked(port, "live") == (200, [])


def test_a_worker_whose_model_is_still_read_has_not_started_and_lives(tmp_path: Path) -> None:
    log, model = tmp_path / "log", tmp_path / "models" / "one"
    model.mkdir(parents=True)
    os.mkfifo(model / "manifest.json")
    with _worker(log, WORKER_MODELS_DIR=str(model.parent)) as port:
        wait_until(lambda: _asked(port, "live")[0] == 200, log.read_text, within_s=60.0)
        status, (reason,) = _asked(port, "started")
        assert (status, reason[:32]) == (503, "no model is loaded and warm yet,")
        assert _asked(port, "ready") == (503, ["starting"])


COMMAND = [*CAESURA, "serve", "--port", "0"]


@pytest.fixture
def served(certificates: Certificates) -> Iterator[tuple[subprocess.Popen[str], str, ssl.SSLContext]]:
    settings = {
        "CAESURA_SERVE_TOKEN": "open-sesame",
        "CAESURA_SERVE_TLS_CERTIFICATE": str(certificates.server_certificate),
        "CAESURA_SERVE_TLS_KEY": str(certificates.server_key),
    }
    with started(*COMMAND, environ=os.environ | settings, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert "wss://127.0.0.1:" in line, line
        address = line.rpartition("WebSocket: ")[2].strip().rstrip(")")
        yield process, address, ssl.create_default_context(cafile=certificates.ca)


@pytest.mark.timeout(180)
def test_words_over_tls_come_back_others_are_refused_and_a_stop_sends_what_is_left(
    served: tuple[subprocess.Popen[str], str, ssl.SSLContext],
) -> None:
    process, address, trust = served
    with pytest.raises(ssl.SSLCertVerificationError), connect(address, proxy=None):
        pass
    plain = address.replace("wss://", "ws://")
    with pytest.raises((OSError, EOFError, InvalidMessage)), connect(plain, proxy=None, open_timeout=10):
        pass
    with connect(address, ssl=trust, proxy=None, additional_headers={"Authorization": "Bearer open-sesame"}) as client:
        client.send(json.dumps({"lang": "en", "tentative": True}))
        client.send(json.dumps({"words": "so um can you hear me", "utterance_end": True}))
        (*_, segment) = received(client, "segment")
        assert segment["text"] == "So, can you hear me?"
        client.send(json.dumps({"words": "yes we"}))
        while len(received(client, "tentative")[-1]["tentative"]["words"]) < 2:
            pass  # what is not read yet when the signal comes stays the client's
        process.send_signal(signal.SIGTERM)
        left = received(client, "closing")
        assert texts(left) == ["yes", "we"]
        assert close_of(client) == (1012, "draining")
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in errors) == (0, False)


def test_an_unusable_certificate_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "none.pem").write_text("nothing", encoding="ascii")
    given = [f"serve.tls_certificate={tmp_path / 'none.pem'}", f"serve.tls_key={tmp_path / 'none.pem'}"]
    options = [part for one in given for part in ("--set", one)]
    done = subprocess.run([*COMMAND, *options], cwd=ROOT, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 1
    assert "TLS: certificate and key cannot be used" in done.stderr
    assert "Traceback" not in done.stderr
