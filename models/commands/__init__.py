"""The commands of ``python -m caesura.models``, one group a file."""
