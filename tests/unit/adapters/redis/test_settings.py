"""What can be said about reaching Redis, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from redis.cluster import RedisCluster

from caesura.worker.adapters.redis.client import make_client, no_retry
from caesura.worker.adapters.redis.settings import RedisSettings, RedisTopology, split_address

SECRET = "hunter2-hunter2"
ANYWHERE = {"tls": True, "username": "worker", "password": SECRET, "tls_ca_file": "/etc/ca.pem"}


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://cache:6380/2", RedisSettings(addresses=("cache:6380",), database=2)),
        ("redis://cache", RedisSettings(addresses=("cache:6379",))),
        ("redis://[::1]:7000", RedisSettings(addresses=("[::1]:7000",))),
        (
            "rediss://worker:p%40ss@cache",
            RedisSettings(addresses=("cache:6379",), tls=True, username="worker", password="p@ss"),
        ),
        ("redis://:only@cache", RedisSettings(addresses=("cache:6379",), password="only")),
        ("unix:///run/redis.sock", RedisSettings(addresses=("unix:/run/redis.sock",))),
    ],
)
def test_an_address_as_a_url_says_the_same(url: str, expected: RedisSettings) -> None:
    assert RedisSettings.from_url(url) == expected


@pytest.mark.parametrize("url", ["http://cache", "cache:6379", "redis://", ""])
def test_another_kind_of_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="begins with"):
        RedisSettings.from_url(url)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"topology": RedisTopology.SENTINEL}, "sentinel_service is needed"),
        ({"sentinel_service": "mymaster"}, "sentinel_service is needed"),
        ({"sentinel_password": SECRET}, "sentinel_password are given, but topology is not sentinel"),
        ({"topology": RedisTopology.CLUSTER, "sentinel_username": "u"}, "topology is not sentinel"),
        ({"topology": RedisTopology.CLUSTER, "database": 1}, "no database but 0"),
        ({"tls": True, "tls_certificate_file": "c.pem"}, "go together"),
        ({"tls_ca_file": "ca.pem"}, "tls is off"),
        ({"username": "worker"}, "needs a password"),
        ({"addresses": ("a:1", "b:1")}, "one address"),
        ({"addresses": ("unix:/run/redis.sock",), "tls": True}, "unix socket"),
        ({"addresses": ("a:b",)}, "host:port"),
        ({"addresses": ("a:70000",)}, "host:port"),
        ({"addresses": (":6379",)}, "host:port"),
    ],
)
def test_contradictions_are_refused_with_their_reason(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        RedisSettings(**given)


def test_an_ipv6_address_is_taken_out_of_its_brackets() -> None:
    assert split_address("[fe80::1]:6379") == ("fe80::1", 6379)


def test_no_password_is_ever_shown() -> None:
    sentinel = {"topology": RedisTopology.SENTINEL, "sentinel_service": "mymaster", "sentinel_password": SECRET}
    settings = RedisSettings(**{**ANYWHERE, **sentinel, "tls_key_password": SECRET})  # type: ignore[arg-type]
    assert SECRET not in repr(settings)


@pytest.mark.parametrize("topology", [RedisTopology.STANDALONE, RedisTopology.SENTINEL])
def test_no_client_retries_and_all_have_time_outs_and_check_the_servers_name(topology: RedisTopology) -> None:
    service = "mymaster" if topology is RedisTopology.SENTINEL else ""
    client: Any = make_client(RedisSettings(topology=topology, sentinel_service=service, **ANYWHERE))  # type: ignore[arg-type]
    options = client.connection_pool.connection_kwargs
    assert options["retry"].get_retries() == 0
    assert not options.get("retry_on_timeout")
    assert not options.get("retry_on_error")
    assert (options["socket_timeout"], options["socket_connect_timeout"]) == (2.0, 1.0)
    assert (options["ssl_cert_reqs"], options["ssl_check_hostname"]) == ("required", True)
    assert options["ssl_ca_certs"] == "/etc/ca.pem"
    client.close()


def test_a_cluster_client_takes_our_word_for_how_often_it_tries() -> None:
    """Its constructor asks for the slots, so its own reading of ``retry`` is looked at instead."""
    cluster = RedisCluster.__new__(RedisCluster)
    cluster.retry = no_retry()
    assert cluster.retry.get_retries() == 0
