"""TLS and SASL on a real broker: each mechanism carries a whole checkpoint, wrong credentials are fatal and named."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from caesura.worker.adapters.kafka.publisher import KafkaPublisher
from caesura.worker.adapters.kafka.reachability import await_sign_of_life
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.topics import KafkaTopics
from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from caesura.worker.errors import BrokerError, CaesuraError, FatalError
from caesura.worker.ports.records import CommittedOffset, NextOffset, OutMessage
from tests.contract.secure_kafka import PASSWORD, USER, SecureKafka, secure_kafka
from tests.harness.group_member import PATIENCE_S, Member, until
from tests.harness.parts.kafka_part import unique
from tests.harness.parts.lookup import NotFound

pytestmark = pytest.mark.kafka

Given = Callable[[SecureKafka], dict[str, Any]]


def sasl(mechanism: str, password: str = PASSWORD, authority: str = "ca.crt") -> Given:
    return lambda secure: {
        "bootstrap_servers": secure.sasl,
        "security_protocol": "SASL_SSL",
        "ssl_ca_file": secure.pem(authority),
        "sasl_mechanism": mechanism,
        "sasl_username": USER,
        "sasl_password": password,
    }


def certificate(secure: SecureKafka) -> dict[str, Any]:
    return {
        "bootstrap_servers": secure.tls,
        "security_protocol": "SSL",
        "ssl_ca_file": secure.pem("ca.crt"),
        "ssl_certificate_file": secure.pem("client.crt"),
        "ssl_key_file": secure.pem("client.key"),
    }


def settings_of(given: Given, secure: SecureKafka) -> KafkaSettings:
    return KafkaSettings(group_id=unique("secure"), **given(secure))


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureKafka]:
    """The broker of this module's tests."""
    try:
        with secure_kafka(tmp_path_factory.mktemp("certificates")) as broker:
            yield broker
    except NotFound as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(missing))


@pytest.mark.parametrize(
    "given",
    [sasl("PLAIN"), sasl("SCRAM-SHA-256"), sasl("SCRAM-SHA-512"), certificate],
    ids=["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "client certificate"],
)
def test_a_whole_checkpoint_passes(secure: SecureKafka, given: Given) -> None:
    settings = settings_of(given, secure)
    words, segments = secure.kafka.create_topic("words"), secure.kafka.create_topic("segments")
    publisher = KafkaPublisher(settings, unique("worker"), words)
    source = KafkaWordSource(settings, words, secure.kafka.create_topic("claims"))
    publisher.init_transactions(PATIENCE_S)
    member = Member(source)
    until(lambda: member.held == {0}, member)
    publisher.begin()
    publisher.publish(OutMessage(topic=segments, partition=0, key=None, value=b"segment"))
    publisher.send_offsets({0: NextOffset(next_offset=1, metadata="id")}, source.membership(), PATIENCE_S)
    publisher.commit(PATIENCE_S)
    assert source.committed([0], PATIENCE_S) == {0: CommittedOffset(next_offset=1, metadata="id")}
    source.close()
    publisher.close()


@pytest.mark.parametrize(
    "given",
    [
        sasl("SCRAM-SHA-512", password="wrong"),
        sasl("PLAIN", password="wrong"),
        sasl("PLAIN", authority="stranger-ca.crt"),
    ],
    ids=["wrong password", "wrong password, PLAIN", "wrong authority"],
)
def test_credentials_that_are_refused_are_fatal_for_every_client(secure: SecureKafka, given: Given) -> None:
    settings = settings_of(given, secure)
    publisher, source = (
        KafkaPublisher(settings, unique("worker"), "words"),
        KafkaWordSource(settings, "words", "claims"),
    )
    with pytest.raises(FatalError, match=r"_AUTHENTICATION|_SSL") as refused:
        publisher.init_transactions(3)
    assert PASSWORD not in str(refused.value)
    with pytest.raises(FatalError, match=r"_AUTHENTICATION|_SSL"):
        _poll_until_refused(source)
    source.close()
    publisher.close()
    with pytest.raises(FatalError, match=r"_AUTHENTICATION|_SSL"):
        KafkaTopics(replace(settings, request_timeout_ms=3_000)).brokers()


def _poll_until_refused(source: KafkaWordSource) -> None:
    for _ in range(200):
        try:
            source.poll(1, 0.1)
        except FatalError:
            raise
        except CaesuraError:
            continue


def test_where_tls_is_expected_or_not_spoken_it_is_said_at_once(secure: SecureKafka) -> None:
    began_s = time.monotonic()
    plain = {"bootstrap_servers": secure.tls}
    with pytest.raises(BrokerError, match="TLS is expected there"):
        await_sign_of_life(settings_of(lambda _: plain, secure))
    with pytest.raises(BrokerError, match="no TLS is spoken there"):
        await_sign_of_life(
            settings_of(lambda _: certificate(secure) | {"bootstrap_servers": secure.kafka.bootstrap}, secure)
        )
    assert time.monotonic() - began_s < 4
    for given in (certificate, sasl("PLAIN"), lambda _: {"bootstrap_servers": secure.kafka.bootstrap}):
        await_sign_of_life(settings_of(given, secure))
