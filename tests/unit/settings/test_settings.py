"""Settings: one tree, read once, every name and value checked."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.adapters.redis.settings import RedisTopology
from caesura.worker.core.language.rules import Bounds
from caesura.worker.core.rendering.rendering import Style
from caesura.worker.errors import FatalError
from caesura.worker.runtime.settings.settings import Route, StartAt
from caesura.worker.settings.tree import (
    SettingSources,
    load_broker_settings,
    load_local_settings,
    load_settings,
    open_settings,
    settings_shown,
)

BROKERS = {"CAESURA_KAFKA_BOOTSTRAP_SERVERS": "broker:9092"}


def environment(**variables: str) -> dict[str, str]:
    return BROKERS | {f"CAESURA_{name}": value for name, value in variables.items()}


def refusal(origin: SettingSources) -> str:
    with pytest.raises(FatalError) as refused:
        load_settings(origin)
    return str(refused.value)


def test_flags_win_over_the_environment_and_the_environment_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "caesura.toml"
    file.write_text("[worker]\ncommit_interval_ms = 20\nmax_skew_ms = 21\nordinal = 22\n")
    environ = environment(WORKER_COMMIT_INTERVAL_MS="30", WORKER_MAX_SKEW_MS="31")
    read = load_settings(SettingSources(environ=environ, file=file, flags={"worker.commit_interval_ms": "40"})).worker
    assert (read.commit_interval_ms, read.max_skew_ms, read.ordinal) == (40, 31, 22)


def test_the_environment_can_name_the_file(tmp_path: Path) -> None:
    file = tmp_path / "caesura.toml"
    file.write_text('[kafka]\nbootstrap_servers = "elsewhere:9092"\n')
    read = load_settings(SettingSources(environ={"CAESURA_CONFIG": str(file)}))
    assert read.kafka.bootstrap_servers == "elsewhere:9092"


def test_text_becomes_what_the_setting_holds() -> None:
    read = load_settings(
        SettingSources(
            environ=environment(
                WORKER_START_AT="latest",
                WORKER_ADOPT_FOREIGN_OFFSETS="true",
                WORKER_ROUTES="de=translate.de, fr=translate.fr:marked",
                REDIS_ADDRESSES="a:1,b:2",
                REDIS_TOPOLOGY="cluster",
                BOUNDS_FLUSH_AFTER_MS="least=100,most=2000",
                KAFKA_EXTRA="client.dns.lookup=use_all_dns_ips",
            )
        )
    )
    assert read.worker.start_at is StartAt.LATEST
    assert read.worker.adopt_foreign_offsets is True
    assert read.worker.routes == (
        Route(target="de", topic="translate.de"),
        Route(target="fr", topic="translate.fr", rendering=Style.MARKED),
    )
    assert read.redis.addresses == ("a:1", "b:2")
    assert read.redis.topology is RedisTopology.CLUSTER
    assert read.decoding.bounds.flush_after_ms == Bounds(least=100, most=2000)
    assert read.kafka.extra == {"client.dns.lookup": "use_all_dns_ips"}


def test_routes_can_be_tables_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "caesura.toml"
    file.write_text('[[worker.routes]]\ntarget = "de"\ntopic = "translate.de"\nkeep_fillers = true\n')
    read = load_local_settings(SettingSources(environ={}, file=file))
    assert read.worker.routes == (Route(target="de", topic="translate.de", keep_fillers=True),)


def test_decoding_knows_the_routes_and_the_group_is_the_deployment() -> None:
    read = load_settings(
        SettingSources(
            environ=environment(WORKER_ROUTES="de=translate.de", WORKER_DEPLOYMENT="blue", WORKER_ORDINAL="3")
        )
    )
    assert read.decoding.routes == {"de"}
    assert (read.kafka.group_id, read.kafka.client_id) == ("blue", "blue-3")
    assert (read.worker.group, read.worker.transactional_id, read.worker.ledger) == ("blue", "blue-3", "blue.ledger")


@pytest.mark.parametrize(
    ("mistyped", "meant"),
    [
        ("CAESURA_WORKER_COMIT_INTERVAL_MS", "CAESURA_WORKER_COMMIT_INTERVAL_MS"),
        ("CAESURA_KAFKA_BOOTSTRAP", "CAESURA_KAFKA_BOOTSTRAP_SERVERS"),
        ("CAESURA_REDIS_PASWORD", "CAESURA_REDIS_PASSWORD"),
        ("CAESURA_CONFG", "CAESURA_CONFIG"),
    ],
)
def test_a_mistyped_variable_is_answered_with_what_was_meant(mistyped: str, meant: str) -> None:
    told = refusal(SettingSources(environ=BROKERS | {mistyped: "x"}))
    assert f"there is no setting {mistyped}; did you mean {meant}?" in told


def test_a_mistyped_name_in_a_file_or_flag_is_answered_with_what_was_meant(tmp_path: Path) -> None:
    file = tmp_path / "caesura.toml"
    file.write_text("[worker]\nordinl = 3\n[decodng]\nstep_words = 3\n")
    told = refusal(SettingSources(environ=BROKERS, file=file, flags={"commit_interval_ms": "5"}))
    assert "did you mean worker.ordinal?" in told
    assert "did you mean decoding.step_words?" in told
    assert "did you mean worker.commit_interval_ms?" in told


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("worker.emision", "; did you mean decoding.emission?"),
        ("worker.look_ahead", "; did you mean decoding.look_ahead_words or bounds.look_ahead_words?"),
        ("redis.adress", "; did you mean redis.addresses?"),
        ("worker.zeal", ""),
    ],
)
def test_a_field_in_the_wrong_section_is_found_without_wild_guesses(given: str, meant: str) -> None:
    told = refusal(SettingSources(environ=BROKERS, flags={given: "1"}))
    assert told == f"--set: there is no setting {given!r}{meant}"


def test_foreign_environment_variables_are_ignored() -> None:
    assert load_settings(SettingSources(environ=BROKERS | {"CAESURAX": "1", "PATH": "/bin"})) is not None


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("WORKER_COMMIT_INTERVAL_MS", "5", "10 to 60,000"),
        ("WORKER_COMMIT_INTERVAL_MS", "soon", "does not fit"),
        ("WORKER_START_AT", "now", "`earliest`, `latest`"),
        ("WORKER_DEPLOYMENT", "Blue Team", "does not fit"),
        ("WORKER_INPUT_TOPIC", "asr.segments", "one purpose"),
        ("WORKER_INPUT_TOPIC", "words & more", "a topic's name"),
        ("WORKER_ROUTES", "de", "target=topic"),
        ("WORKER_ROUTES", "de=a,de=b", "named twice"),
        ("DECODING_STEP_WORDS", "0", "1 to 50"),
        ("DECODING_STALL_AFTER_MS", "100", "shorter than flush_after_ms"),
        ("REDIS_ADDRESSES", "nowhere", "host:port"),
        ("KAFKA_SECURITY_PROTOCOL", "TLS", "`PLAINTEXT`"),
        ("BOUNDS_FLUSH_AFTER_MS", "200-900", "name=value"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_its_reason(variable: str, value: str, reason: str) -> None:
    assert reason in refusal(SettingSources(environ=environment(**{variable: value})))


def test_all_that_is_wrong_is_said_at_once() -> None:
    told = refusal(
        SettingSources(environ=environment(WORKER_ORDINAL="-1", WORKER_MAX_SKEW_MS="x", DECODING_EMISSION="now"))
    )
    assert all(f"CAESURA_{name}" in told for name in ("WORKER_ORDINAL", "WORKER_MAX_SKEW_MS", "DECODING_EMISSION"))


def test_a_setting_without_default_says_how_to_set_it() -> None:
    assert "CAESURA_KAFKA_BOOTSTRAP_SERVERS" in refusal(SettingSources(environ={}))


def test_decoding_alone_needs_no_broker_but_names_are_checked_all_the_same() -> None:
    assert load_local_settings(SettingSources(environ={})).decoding.step_words == 3
    with pytest.raises(FatalError, match="CAESURA_KAFKA_BOOTSTRAP_SERVERS"):
        load_local_settings(SettingSources(environ={"CAESURA_KAFKA_BOTSTRAP_SERVERS": "x"}))


@pytest.mark.parametrize("option", ["enable.auto.commit=true", "acks=1", "isolation.level=read_uncommitted"])
def test_options_that_the_guarantees_rest_on_cannot_be_overridden(option: str) -> None:
    assert "cannot be set" in refusal(SettingSources(environ=environment(KAFKA_EXTRA=option)))


@pytest.mark.parametrize(
    ("variables", "seconds"),
    [
        ({}, 30.0),
        ({"WORKER_INFERENCE_DEADLINE_MS": "100"}, 30.0),
        ({"WORKER_INFERENCE_DEADLINE_MS": "600000"}, 620.0),
        ({"WORKER_COMMIT_TIMEOUT_S": "60"}, 180.0),
        ({"WORKER_CLAIM_TIMEOUT_S": "60"}, 180.0),
        ({"REDIS_TIMEOUT_S": "40", "REDIS_CONNECT_TIMEOUT_S": "20"}, 180.0),
    ],
)
def test_the_allowed_stall_exceeds_every_time_out(variables: dict[str, str], seconds: float) -> None:
    assert load_settings(SettingSources(environ=environment(**variables))).max_still_s == seconds


@pytest.mark.parametrize("variable", ["KAFKA_GROUP_ID", "KAFKA_CLIENT_ID", "DECODING_ROUTES", "DECODING_BOUNDS"])
def test_derived_settings_cannot_be_set(variable: str) -> None:
    assert "cannot be set" in refusal(SettingSources(environ=environment(**{variable: "x"})))


@pytest.mark.parametrize("content", ["[worker\n", "worker = 3", "\xff"])
def test_a_file_that_is_no_settings_file_is_refused_by_name(tmp_path: Path, content: str) -> None:
    file = tmp_path / "broken.toml"
    file.write_text(content, encoding="latin-1")
    assert "broken.toml" in refusal(SettingSources(environ=BROKERS, file=file))


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    assert "cannot be read" in refusal(SettingSources(environ=BROKERS, file=tmp_path / "none.toml"))


def test_secrets_are_shown_nowhere() -> None:
    secret = "open-sesame"
    environ = environment(
        KAFKA_SECURITY_PROTOCOL="SASL_SSL",
        KAFKA_SASL_MECHANISM="PLAIN",
        KAFKA_SASL_USERNAME="worker",
        KAFKA_SASL_PASSWORD=secret,
        KAFKA_EXTRA=f"ssl.engine.location={secret}",
        REDIS_USERNAME="worker",
        REDIS_PASSWORD=secret,
    )
    origin = SettingSources(environ=environ)
    read = load_settings(origin)
    listed = {setting.leaf.path: setting.value for setting in settings_shown(read, origin)}
    assert read.redis.password == secret
    assert secret not in repr(listed)
    assert secret not in repr(read.redis)
    assert listed["redis.password"] == listed["kafka.sasl_password"] == "(set, not shown)"
    assert listed["redis.sentinel_password"] == ""


def test_a_secret_that_does_not_fit_is_not_quoted(tmp_path: Path) -> None:
    file = tmp_path / "caesura.toml"
    file.write_text('[redis]\npassword = ["open-sesame"]\n')
    assert "open-sesame" not in refusal(SettingSources(environ=BROKERS, file=file))


def test_where_a_value_came_from_is_told() -> None:
    origin = SettingSources(environ=environment(WORKER_ORDINAL="2"), flags={"worker.max_skew_ms": "1"})
    source = {setting.leaf.path: setting.source for setting in settings_shown(load_settings(origin), origin)}
    assert source["worker.ordinal"] == "CAESURA_WORKER_ORDINAL"
    assert source["worker.max_skew_ms"] == "--set worker.max_skew_ms"
    assert source["worker.start_at"] == ""


def test_every_setting_says_what_it_is_for() -> None:
    assert [leaf.path for leaf in open_settings() if not leaf.description] == []


def test_no_two_settings_share_a_variable() -> None:
    variables = [leaf.variable for leaf in open_settings()]
    assert len(set(variables)) == len(variables)


@given(interval=st.integers(min_value=10, max_value=60_000), ordinal=st.integers(min_value=0, max_value=9999))
def test_numbers_within_bounds_come_back_as_they_were_written(interval: int, ordinal: int) -> None:
    environ = environment(WORKER_COMMIT_INTERVAL_MS=str(interval), WORKER_ORDINAL=f" {ordinal} ")
    read = load_broker_settings(SettingSources(environ=environ)).worker
    assert (read.commit_interval_ms, read.ordinal) == (interval, ordinal)


@given(name=st.text(min_size=1, max_size=20))
def test_no_foreign_name_is_taken_for_a_setting(name: str) -> None:
    if name not in {leaf.path for leaf in open_settings()}:
        with pytest.raises(FatalError):
            load_local_settings(SettingSources(environ={}, flags={name: "1"}))


BROKER_FLAGS = {"kafka.bootstrap_servers": "broker:9092"}


def flags(given: dict[str, str]) -> SettingSources:
    return SettingSources(environ={}, flags=BROKER_FLAGS | given)


def refusal_of_flags(given: dict[str, str]) -> str:
    with pytest.raises(FatalError) as refused:
        load_settings(flags(given))
    return str(refused.value)


@pytest.mark.parametrize(
    "password", ["{abc", "[abc", '{"a": 1}', "[1]", " blank before", "blank behind\t", "  ", "a,b=c"]
)
def test_a_password_is_taken_as_it_stands(password: str, tmp_path: Path) -> None:
    file = tmp_path / "caesura.toml"
    file.write_text(f"[redis]\npassword = {password.join(2 * [chr(39)])}\n")
    in_file = SettingSources(environ={}, file=file, flags=BROKER_FLAGS)
    in_environment = SettingSources(environ={"CAESURA_REDIS_PASSWORD": password}, flags=BROKER_FLAGS)
    for origin in (in_file, in_environment, flags({"redis.password": password})):
        assert load_settings(origin).redis.password == password


@given(password=st.text(min_size=1).filter(lambda text: text[-1] not in "\r\n"))
@pytest.mark.slow
def test_a_secret_is_taken_as_it_stands_less_one_line_break_at_its_end(password: str) -> None:
    for text in (password, f"{password}\n"):
        assert load_settings(flags({"redis.password": text})).redis.password == password


@pytest.mark.parametrize("token", [" open sesame", "open sesame "])
def test_a_token_that_no_header_could_carry_is_refused_and_not_quoted(token: str) -> None:
    told = refusal_of_flags({"serve.token": token})
    assert "serve.token begins or ends with a blank" in told
    assert "sesame" not in told


@pytest.mark.parametrize(
    ("setting", "text", "value"),
    [
        ("redis.password", "open sesame\r\n", "open sesame"),
        ("redis.password", "open sesame\n\n", "open sesame\n"),
        ("redis.password", "", None),
        ("redis.password", "\n", None),
        ("redis.username", " worker ", "worker"),
        ("worker.ordinal", " 7\n", 7),
        *(("worker.models_dir", text, text) for text in ("{deployment", "[1]", '{"a": 1}')),
        ("kafka.bootstrap_servers", "[fd00::1]:9092,[fd00::2]:9092", "[fd00::1]:9092,[fd00::2]:9092"),
        ("redis.addresses", "[fd00::1]:6379", ("[fd00::1]:6379",)),
        ("redis.addresses", "[fd00::1]:6379, [fe80::1%eth0]:6380", ("[fd00::1]:6379", "[fe80::1%eth0]:6380")),
        ("redis.addresses", '["[fd00::1]:6379"]', ("[fd00::1]:6379",)),
        ("redis.addresses", '["[fd00::1]:6379", "cache:6379"]', ("[fd00::1]:6379", "cache:6379")),
        ("worker.own_fillers", "[laughter]", ("[laughter]",)),
        ("worker.own_fillers", "{um}, uh", ("{um}", "uh")),
        ("worker.own_fillers", '["so, well", "[laughter]", "a ] and ["]', ("so, well", "[laughter]", "a ] and [")),
        ("worker.own_fillers", "[]", ()),
    ],
)
def test_blanks_brackets_and_line_breaks_mean_what_the_setting_holds(setting: str, text: str, value: object) -> None:
    """A secret loses one line break, other text its blanks; only a list may be JSON, and it may begin otherwise."""
    more = {"redis.password": "x"} if setting == "redis.username" else {}
    more |= {"redis.topology": "cluster"} if setting == "redis.addresses" else {}
    assert attrgetter(setting)(load_settings(flags(more | {setting: text}))) == value


@pytest.mark.parametrize("text", ['["um", "uh"', "['um', 'uh']", "[um, uh]", "[", '["um" "uh"]', '[{"a": 1]'])
def test_a_list_that_was_meant_as_json_and_is_none_is_refused(text: str) -> None:
    assert "it is no JSON" in refusal_of_flags({"worker.own_fillers": text})


def test_broken_json_options_are_refused_and_not_quoted() -> None:
    told = refusal_of_flags({"kafka.extra": '{"debug": "open-sesame"'})
    assert "it is no JSON" in told
    assert "sesame" not in told
