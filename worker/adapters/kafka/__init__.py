"""Kafka behind the ports: confluent-kafka, with every error mapped in ``errors``."""
