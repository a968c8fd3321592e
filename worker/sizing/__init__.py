"""What a machine carries: measured without Kafka and Redis, and what to set by it (``caesura bench``)."""
