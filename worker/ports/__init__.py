"""The ports: what the runtime asks of Kafka, Redis, a model and a clock. Adapters implement them, twins too.

Every method says whether it may block and what it may raise (``errors``). One loop thread owns them all. Threads beside
it call the clock and the session store, and ask ``partition_count``, ``watermarks``, ``bounds``, ``read`` and
``committed_offsets``, also while the loop closes them. Time-outs are in seconds and bound the whole call.
"""
