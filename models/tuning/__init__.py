"""A user's own text to a model of their own, begun at the shipped weights: ``python -m caesura.models tune``."""
