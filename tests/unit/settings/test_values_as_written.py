"""What a value's text is read as: a secret as it stands, JSON only where a list or names with values are wanted."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.errors import FatalError
from caesura.worker.settings.tree import SettingSources, load_settings

BROKERS = {"kafka.bootstrap_servers": "broker:9092"}
TWO_NODES = {"redis.topology": "cluster"}


def flags(given: dict[str, str]) -> SettingSources:
    return SettingSources(environ={}, flags=BROKERS | given)


def refusal(given: dict[str, str]) -> str:
    with pytest.raises(FatalError) as refused:
        load_settings(flags(given))
    return str(refused.value)


@pytest.mark.parametrize(
    "password", ["{abc", "[abc", '{"a": 1}', "[1]", " blank before", "blank behind\t", "  ", "a,b=c"]
)
def test_a_password_is_taken_as_it_stands(password: str, tmp_path: Path) -> None:
    file = tmp_path / "caesura.toml"
    file.write_text(f"[redis]\npassword = {password.join(2 * [chr(39)])}\n")
    in_file = SettingSources(environ={}, file=file, flags=BROKERS)
    in_environment = SettingSources(environ={"CAESURA_REDIS_PASSWORD": password}, flags=BROKERS)
    for origin in (in_file, in_environment, flags({"redis.password": password})):
        assert load_settings(origin).redis.password == password


@given(password=st.text(min_size=1).filter(lambda text: text[-1] not in "\r\n"))
def test_a_secret_is_taken_as_it_stands_less_one_line_break_at_its_end(password: str) -> None:
    for text in (password, f"{password}\n"):
        assert load_settings(flags({"redis.password": text})).redis.password == password


def test_a_line_break_of_windows_is_one_line_break() -> None:
    assert load_settings(flags({"redis.password": "open sesame\r\n"})).redis.password == "open sesame"
    assert load_settings(flags({"redis.password": "open sesame\n\n"})).redis.password == "open sesame\n"


def test_an_empty_secret_is_none() -> None:
    assert load_settings(flags({"redis.password": ""})).redis.password is None
    assert load_settings(flags({"redis.password": "\n"})).redis.password is None


@pytest.mark.parametrize("token", [" open sesame", "open sesame "])
def test_a_token_that_no_header_could_carry_is_refused_and_not_quoted(token: str) -> None:
    told = refusal({"serve.token": token})
    assert "serve.token begins or ends with a blank" in told
    assert "sesame" not in told


@pytest.mark.parametrize("text", ["{deployment", "[1]", '{"a": 1}'])
def test_what_is_neither_list_nor_mapping_is_never_json(text: str) -> None:
    assert load_settings(flags({"worker.models_dir": text})).worker.models_dir == text


def test_blanks_around_what_is_no_secret_do_not_count() -> None:
    read = load_settings(flags({"redis.username": " worker ", "redis.password": "x", "worker.ordinal": " 7\n"}))
    assert (read.redis.username, read.worker.ordinal) == ("worker", 7)


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("[fd00::1]:6379", ("[fd00::1]:6379",)),
        ("[fd00::1]:6379, [fe80::1%eth0]:6380", ("[fd00::1]:6379", "[fe80::1%eth0]:6380")),
        ('["[fd00::1]:6379"]', ("[fd00::1]:6379",)),
        ('["[fd00::1]:6379", "cache:6379"]', ("[fd00::1]:6379", "cache:6379")),
    ],
)
def test_a_list_may_begin_with_an_address_in_brackets(text: str, addresses: tuple[str, ...]) -> None:
    assert load_settings(flags(TWO_NODES | {"redis.addresses": text})).redis.addresses == addresses


def test_brokers_may_have_addresses_in_brackets() -> None:
    brokers = "[fd00::1]:9092,[fd00::2]:9092"
    assert load_settings(flags({"kafka.bootstrap_servers": brokers})).kafka.bootstrap_servers == brokers


@pytest.mark.parametrize(
    ("text", "fillers"),
    [
        ("[laughter]", ("[laughter]",)),
        ("{um}, uh", ("{um}", "uh")),
        ('["so, well", "[laughter]", "a ] and ["]', ("so, well", "[laughter]", "a ] and [")),
        ("[]", ()),
    ],
)
def test_an_item_may_hold_what_json_is_made_of(text: str, fillers: tuple[str, ...]) -> None:
    assert load_settings(flags({"worker.own_fillers": text})).worker.own_fillers == fillers


@pytest.mark.parametrize("text", ['["um", "uh"', "['um', 'uh']", "[um, uh]", "[", '["um" "uh"]', '[{"a": 1]'])
def test_a_list_that_was_meant_as_json_and_is_none_is_refused(text: str) -> None:
    assert "it is no JSON" in refusal({"worker.own_fillers": text})


def test_options_that_were_meant_as_json_and_are_none_are_refused_and_not_quoted() -> None:
    told = refusal({"kafka.extra": '{"debug": "open-sesame"'})
    assert "it is no JSON" in told
    assert "sesame" not in told
