"""The commands behind ``caesura``, one a file; ``cli`` puts them together."""
