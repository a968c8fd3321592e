"""Topics for operators: lists them and their settings, and makes the missing ones."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import cast

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import (
    AclOperation,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
    TopicDescription,
)

from caesura.worker.adapters.kafka.error_codes import DENIED
from caesura.worker.adapters.kafka.errors import consumer_error, consuming, error_of
from caesura.worker.adapters.kafka.new_client import new_client
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.errors import BrokerError, CaesuraError

_ASK_AGAIN_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedTopic:
    """A topic as Caesura wants it. purpose: for people. options: those that matter, the rest is the cluster's."""

    name: str
    purpose: str
    partitions: int
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTopic:
    """A topic as the cluster has it."""

    name: str
    partitions: int
    replication: int
    options: Mapping[str, str]


class KafkaTopics:
    """An administrator's view of the topics. Every call may block for the request time-out; BrokerError, FatalError."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._timeout_s = settings.request_timeout_ms / 1000
        self._denied: CaesuraError | None = None
        with consuming("making the administrator"):
            options = {**settings.client_options(), "error_cb": self._heard}
            self._admin = new_client(AdminClient, options)

    def brokers(self) -> dict[int, str]:
        """Return the brokers: id to address; FatalError where they refuse our credentials."""
        try:
            with consuming(f"asking {self._settings.bootstrap_servers} for its brokers"):
                found = self._admin.list_topics(timeout=self._timeout_s)
        except BrokerError:
            self._admin.poll(0)
            if self._denied is not None:
                raise self._denied from None
            raise
        return {broker.id: f"{broker.host}:{broker.port}" for broker in found.brokers.values()}

    def broker_options(self, broker: int, names: Collection[str]) -> dict[str, str]:
        """Return those settings of a broker; what an ACL hides is missing."""
        entries = self._configs(ConfigResource(ResourceType.BROKER, str(broker)), f"reading broker {broker}'s settings")
        return {name: value for name, value in entries.items() if name in names}

    def find(self, names: Sequence[str]) -> dict[str, FoundTopic]:
        """Return those of the topics that there are."""
        with consuming("asking for the topics"):
            # Without a name, so that a cluster which makes topics on request makes none of ours.
            topics = self._admin.list_topics(timeout=self._timeout_s).topics
        found = {}
        for name in names:
            topic = topics.get(name)
            if topic is None or topic.error is not None:
                continue
            found[name] = FoundTopic(
                name=name,
                partitions=len(topic.partitions),
                replication=min((len(partition.replicas) for partition in topic.partitions.values()), default=0),
                options=self._configs(ConfigResource(ResourceType.TOPIC, name), f"reading {name}'s settings"),
            )
        return found

    def forbidden(self, names: Sequence[str]) -> dict[str, tuple[bool, bool]]:
        """Return for each topic whether ACLs keep us from reading, and from writing; where they are not told, no.

        A topic that there is not is left out, unless they keep us from seeing that, too: then it is closed both ways.
        """
        if not names:
            return {}
        with consuming("asking what may be done to the topics"):
            asked = self._admin.describe_topics(
                TopicCollection(list(names)), include_authorized_operations=True, request_timeout=self._timeout_s
            )
            allowed = {name: self._operations(answer) for name, answer in asked.items()}
        return {
            name: (AclOperation.READ not in operations, AclOperation.WRITE not in operations)
            for name, operations in allowed.items()
            if operations
        }

    def _operations(self, answer: Future[TopicDescription]) -> list[AclOperation]:
        try:
            return cast("list[AclOperation]", answer.result(self._timeout_s).authorized_operations or [])
        except KafkaException as exception:
            if error_of(exception).code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                return []
            if error_of(exception).code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                return [AclOperation.UNKNOWN]  # some, of which reading and writing are none
            raise

    def create(self, topic: WantedTopic, *, replication: int, options: Mapping[str, str]) -> None:
        """Create a topic, with further options, and wait until every broker tells of it.

        FatalError where it exists. BrokerError, too, where it was made but a broker does not tell of it in time.
        """
        new = NewTopic(
            topic.name,
            num_partitions=topic.partitions,
            replication_factor=replication,
            config={**topic.options, **options},
        )
        with consuming(f"creating {topic.name}"):
            self._admin.create_topics([new], operation_timeout=self._timeout_s)[topic.name].result(self._timeout_s)
        self._await_everywhere(topic)

    def _await_everywhere(self, topic: WantedTopic) -> None:
        """Wait for the brokers: the controller answers when a creation is decided, they take it up after that."""
        ends_at_s = time.monotonic() + self._timeout_s
        waited_for = self.brokers()
        while True:
            for broker, address in list(waited_for.items()):
                # A client of its own for each question: one that has heard of the other brokers asks any of them.
                answered, told = KafkaTopics(replace(self._settings, bootstrap_servers=address)).told(topic, broker)
                if told:
                    waited_for.pop(answered, None)
            if not waited_for:
                return
            if time.monotonic() >= ends_at_s:
                silent = ", ".join(waited_for.values())
                raise BrokerError(f"{topic.name} is made, but {silent} does not tell of it: not yet, or not to us")
            time.sleep(_ASK_AGAIN_S)

    def told(self, topic: WantedTopic, bootstrap: int) -> tuple[int, bool]:
        """Return which broker answered, and whether it knows all of this topic's partitions, each with a leader.

        That is often another than the one that was asked: on a busy machine a client has heard of the others before it
        sends the question. bootstrap: the id of the one broker that it was given, which may answer without a name.
        """
        with consuming(f"asking {self._settings.bootstrap_servers} for {topic.name}, which was just made"):
            answer = self._admin.list_topics(timeout=self._timeout_s)
        found = answer.topics.get(topic.name)
        known = found is not None and sum(one.leader >= 0 for one in found.partitions.values()) == topic.partitions
        return answer.orig_broker_id if answer.orig_broker_id >= 0 else bootstrap, known

    def alter(self, name: str, options: Mapping[str, str]) -> None:
        """Set options of a topic; the others stay."""
        entries = [
            ConfigEntry(option, value, incremental_operation=AlterConfigOpType.SET) for option, value in options.items()
        ]
        resource = ConfigResource(ResourceType.TOPIC, name, incremental_configs=entries)
        with consuming(f"setting {name}"):
            self._admin.incremental_alter_configs([resource])[resource].result(self._timeout_s)

    def _heard(self, error: KafkaError) -> None:
        """Take an event about a connection; only a refusal says more than the call that it spoils."""
        if error.code() in DENIED:
            self._denied = consumer_error(error, "connecting")

    def _configs(self, resource: ConfigResource, doing: str) -> dict[str, str]:
        with consuming(doing):
            entries = self._admin.describe_configs([resource])[resource].result(self._timeout_s)
        return {name: entry.value for name, entry in entries.items() if entry.value is not None}
