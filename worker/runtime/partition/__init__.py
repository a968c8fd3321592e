"""One loaded partition: its records, timers, dead letters and staged checkpoints."""
