"""The ports: what the runtime asks of Kafka, Redis, a model and a clock. Adapters implement them, twins too.

Every method says whether it may block and what it may raise (``errors``). None is thread-safe: one loop thread
owns them all. Time-outs are in seconds and bound the whole call.
"""
