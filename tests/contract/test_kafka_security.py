"""TLS and SASL on a real broker: each mechanism carries a whole checkpoint, wrong credentials are fatal and named."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from caesura.worker.adapters.kafka.publisher import KafkaPublisher
from caesura.worker.adapters.kafka.reachability import await_sign_of_life
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.topics import KafkaTopics
from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from caesura.worker.errors import BrokerError, CaesuraError, FatalError
from caesura.worker.ports.records import CommittedOffset, NextOffset, OutMessage
from tests.harness.group_member import PATIENCE_S, Member, until
from tests.harness.parts.kafka_part import unique
from tests.harness.parts.secured_parts import PASSWORD, SecuredKafka

pytestmark = pytest.mark.kafka

Given = Callable[[SecuredKafka], KafkaSettings]


def certificate(secure: SecuredKafka) -> KafkaSettings:
    return KafkaSettings(
        bootstrap_servers=secure.tls,
        security_protocol="SSL",
        ssl_ca_file=str(secure.certificates.ca),
        ssl_certificate_file=str(secure.certificates.client_certificate),
        ssl_key_file=str(secure.certificates.client_key),
    )


def own_group(settings: KafkaSettings) -> KafkaSettings:
    return replace(settings, group_id=unique("secure"))


@pytest.mark.parametrize(
    "given",
    [
        lambda secure: secure.settings(mechanism="PLAIN"),
        lambda secure: secure.settings(mechanism="SCRAM-SHA-256"),
        lambda secure: secure.settings(mechanism="SCRAM-SHA-512"),
        certificate,
    ],
    ids=["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "client certificate"],
)
def test_a_whole_checkpoint_passes(guarded_kafka: SecuredKafka, given: Given) -> None:
    settings = own_group(given(guarded_kafka))
    words, segments = guarded_kafka.plain.create_topic("words"), guarded_kafka.plain.create_topic("segments")
    publisher = KafkaPublisher(settings, unique("worker"), words)
    source = KafkaWordSource(settings, words, guarded_kafka.plain.create_topic("claims"))
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
        lambda secure: secure.settings(password="wrong"),
        lambda secure: secure.settings(mechanism="PLAIN", password="wrong"),
        lambda secure: secure.settings(mechanism="PLAIN", authority=secure.certificates.stranger_ca),
    ],
    ids=["wrong password", "wrong password, PLAIN", "wrong authority"],
)
def test_credentials_that_are_refused_are_fatal_for_every_client(guarded_kafka: SecuredKafka, given: Given) -> None:
    settings = own_group(given(guarded_kafka))
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


def test_where_tls_is_expected_or_not_spoken_it_is_said_at_once(guarded_kafka: SecuredKafka) -> None:
    began_s = time.monotonic()
    plain = KafkaSettings(bootstrap_servers=guarded_kafka.plain.bootstrap)
    with pytest.raises(BrokerError, match="TLS is expected there"):
        await_sign_of_life(replace(plain, bootstrap_servers=guarded_kafka.tls))
    with pytest.raises(BrokerError, match="no TLS is spoken there"):
        await_sign_of_life(replace(certificate(guarded_kafka), bootstrap_servers=plain.bootstrap_servers))
    assert time.monotonic() - began_s < 4
    for settings in (certificate(guarded_kafka), guarded_kafka.settings(mechanism="PLAIN"), plain):
        await_sign_of_life(settings)
