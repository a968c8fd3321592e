"""Settings of a command that speaks to Kafka, once a broker has given a sign of life."""

from __future__ import annotations

from caesura.worker.adapters.kafka.reachability import await_sign_of_life
from caesura.worker.settings.tree import BrokerSettings, SettingSources, load_broker_settings


def reached_brokers(origin: SettingSources) -> BrokerSettings:
    """Read the settings. FatalError: they are wrong; BrokerError: nobody answers, with the reason."""
    settings = load_broker_settings(origin)
    await_sign_of_life(settings.kafka)
    return settings
