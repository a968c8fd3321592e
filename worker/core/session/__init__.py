"""One session: its state, what it asks of the engine, its snapshot and recovery."""
