"""What ``caesura check`` asks of brokers, topics, Redis and models before a worker starts."""
