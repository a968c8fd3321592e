"""Adapters: confluent-kafka, redis and onnxruntime behind the ports, with an honest in-memory twin beside each."""
