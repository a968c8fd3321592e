"""The commands of ``python -m models``, one group a file."""
