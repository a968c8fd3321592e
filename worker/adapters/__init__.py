"""Adapters: confluent-kafka, redis and onnxruntime behind the ports, each with an in-memory adapter beside it."""
