"""An address with a password in it is refused before anything can show it, and the refusal does not show it either."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from caesura.worker.cli import app
from caesura.worker.errors import FatalError
from caesura.worker.settings.catalogue import shown
from caesura.worker.settings.tree import SettingSources, load_settings, open_settings

SECRET = "open-sesame"
BROKERS = {"CAESURA_KAFKA_BOOTSTRAP_SERVERS": "broker:9092"}


def refusal(environ: dict[str, str], file: Path | None = None) -> str:
    with pytest.raises(FatalError) as refused:
        load_settings(SettingSources(environ=BROKERS | environ, file=file))
    return str(refused.value)


@pytest.mark.parametrize("topology", ["standalone", "cluster", "sentinel"])
@pytest.mark.parametrize(
    "address",
    [
        f"redis://:{SECRET}@cache:6379",
        f"rediss://worker:{SECRET}@cache",
        f"worker:{SECRET}@cache:6379",
        f"redis://{SECRET}:6379",
        f"unix://worker:{SECRET}@/run/redis.sock",
        f"redis://:{SECRET}/x@cache:6379",
    ],
)
def test_a_redis_url_is_refused_with_the_settings_that_take_its_parts(address: str, topology: str) -> None:
    told = refusal({"CAESURA_REDIS_ADDRESSES": address, "CAESURA_REDIS_TOPOLOGY": topology} | _service(topology))
    assert SECRET not in told
    assert all(name in told for name in ("redis.username", "redis.password", "redis.tls"))


def _service(topology: str) -> dict[str, str]:
    return {"CAESURA_REDIS_SENTINEL_SERVICE": "mymaster"} if topology == "sentinel" else {}


@pytest.mark.parametrize("servers", [f"worker:{SECRET}@broker:9092", f"a:9092,SASL_SSL://worker:{SECRET}@broker:9092"])
def test_a_brokers_address_with_a_password_is_refused(servers: str) -> None:
    told = refusal({"CAESURA_KAFKA_BOOTSTRAP_SERVERS": servers})
    assert SECRET not in told
    assert "sasl_password" in told


def test_a_token_endpoint_with_a_password_is_refused() -> None:
    told = refusal({"CAESURA_KAFKA_OAUTH_TOKEN_ENDPOINT": f"https://worker:{SECRET}@idp/token"})
    assert SECRET not in told
    assert "oauth_client_secret" in told


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("REDIS_ADDRESSES", f'["redis://:{SECRET}@cache:6379"'),
        ("KAFKA_EXTRA", f"ssl.keystore.password:{SECRET}"),
        ("KAFKA_EXTRA", f'{{"ssl.keystore.password": ["{SECRET}"]}}'),
        ("REDIS_CONNECT_TIMEOUT_S", f"redis://:{SECRET}@cache"),
    ],
)
def test_an_unreadable_value_that_may_hold_a_secret_is_not_quoted(variable: str, value: str) -> None:
    told = refusal({f"CAESURA_{variable}": value})
    assert f"CAESURA_{variable}" in told
    assert SECRET not in told


def test_a_value_of_a_file_is_not_quoted_either(tmp_path: Path) -> None:
    file = tmp_path / "caesura.toml"
    file.write_text(f'[redis]\naddresses = {{url = "redis://:{SECRET}@cache:6379"}}\n')
    assert SECRET not in refusal({}, file)


@pytest.mark.parametrize("given", [f"redis.password:{SECRET}", f"redis.password {SECRET}"])
def test_a_flag_without_its_equals_sign_shows_the_name_alone(given: str) -> None:
    done = CliRunner().invoke(app, ["check", "--set", given])
    assert done.exit_code != 0
    told = done.output + repr(done.exception)
    assert "redis.password" in told
    assert SECRET not in told


@pytest.mark.parametrize("url", [f"https://u:{SECRET}@host/x", f"https://:{SECRET}/y@host", f"a:1,b://:{SECRET}@host"])
def test_shown_values_hold_no_url_credentials(url: str) -> None:
    leaf = next(leaf for leaf in open_settings() if leaf.path == "kafka.oauth_scope")
    assert SECRET not in shown(leaf, url)
    assert "***@host" in shown(leaf, url)
