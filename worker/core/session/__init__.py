"""One session: its state, its label requests, its snapshot and recovery."""
