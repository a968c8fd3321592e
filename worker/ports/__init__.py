"""The ports: what the runtime needs from Kafka, Redis, a model and a clock. Real and in-memory adapters implement them.

Every method says whether it may block and what it may raise (``errors``). The loop's thread owns them all. Threads
beside it call the clock and the session store, ``partition_count``, ``watermarks``, ``bounds``, ``read`` and
``committed_offsets``, also while the loop closes them. Time-outs are in seconds and limit the whole call.
"""
