"""The sessions of one partition: batches, timers, dormant sessions, replay offsets."""
