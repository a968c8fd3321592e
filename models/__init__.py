"""Training: corpora in, a model folder that the worker loads out. Never imported by ``worker``."""
