"""The commands behind ``caesura``, one a file; ``worker.cli`` puts them together."""
