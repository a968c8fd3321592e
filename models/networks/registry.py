"""The networks by name: what ``--network`` chooses and what a checkpoint remembers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, TypeAlias

from caesura.models.networks.blstm import BLSTM, BLSTMConfig
from caesura.models.networks.ct_transformer import CTConfig, CTTransformer
from caesura.models.networks.full_transformer import UNLIMITED, FullTransformer
from caesura.models.networks.mpnet import MPNet
from caesura.models.networks.sapr import SAPR, SAPRConfig
from caesura.models.networks.t_brnn import TBRNN, TBRNNConfig
from caesura.models.networks.task_dependency import TaskDependency, TaskDependencyConfig
from caesura.models.networks.word_cnn import WordCNN, WordCNNConfig

Network: TypeAlias = CTTransformer | BLSTM | WordCNN | TBRNN | SAPR
"""Any of them: the Full-Transformer, MPNet and what has task-dependency attention are CT-Transformers too."""

_KINDS: dict[str, tuple[type[Network], type[Any]]] = {
    "ct": (CTTransformer, CTConfig),
    "full": (FullTransformer, CTConfig),
    "mpnet": (MPNet, CTConfig),
    "blstm": (BLSTM, BLSTMConfig),
    "task-dependency": (TaskDependency, TaskDependencyConfig),
    "word-cnn": (WordCNN, WordCNNConfig),
    "t-brnn": (TBRNN, TBRNNConfig),
    "sapr": (SAPR, SAPRConfig),
}
KINDS = tuple(_KINDS)


def build(kind: str, config: dict[str, Any]) -> Network:
    """Return a network of a kind, with a random start; ``config`` holds the fields of its configuration."""
    if kind not in _KINDS:
        raise ValueError(f"there is no network {kind!r}; there are {', '.join(KINDS)}")
    network, shape = _KINDS[kind]
    return network(shape(**config))


def describe(network: Network) -> tuple[str, dict[str, Any]]:
    """Return the kind of ``network`` and its configuration: what ``build`` makes another one of."""
    kind = next(name for name, (of, _) in _KINDS.items() if type(network) is of)
    return kind, asdict(network.config)


def look_ahead_words(network: Network) -> int:
    """Return how many words ahead a word sees at most, ``UNLIMITED`` where it sees all."""
    if isinstance(network, WordCNN):
        return network.config.look_ahead_words
    return min(sum(network.config.look_ahead), UNLIMITED) if isinstance(network, CTTransformer) else UNLIMITED
