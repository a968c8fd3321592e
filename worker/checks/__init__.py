"""The checks of ``caesura check``: brokers, topics, Redis and models before a worker starts."""
