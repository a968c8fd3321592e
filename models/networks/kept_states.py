"""A CT-Transformer that reads a growing buffer and keeps what is settled: exact, for any spread of the look-ahead.

What layer k says of a word is settled when the L_1 + … + L_k words that it may depend on are in. So a step recomputes,
in layer k, its new words and the last L_1 + … + L_k before them; the rest, and every settled key and value, is kept. A
Full-Transformer and a BLSTM have nothing settled before the buffer's end, and must read it again.
"""

from __future__ import annotations

from itertools import accumulate
from typing import cast

import torch
from torch import Tensor
from torch.nn import functional

from caesura.models.networks.ct_transformer import CTLayer, CTTransformer


class KeptStates:
    """One buffer's states. Make another one where the buffer begins anew: positions start there."""

    def __init__(self, network: CTTransformer) -> None:
        """Begin with nothing kept. The network labels: it must be in ``eval``, and its weights must stay."""
        self._network = network
        self._layers = [cast("CTLayer", layer) for layer in network.layers]
        look_ahead = network.config.look_ahead
        # Words after a word until the input of each layer, and then the output of the last, is settled.
        self._needed_words = [0, *accumulate(look_ahead)]
        empty = network.embedding.weight.new_empty(1, 0, network.config.width)
        self._settled = [empty] * len(self._needed_words)  # (1, settled, D): the input of each layer, then the output
        self._keys_values = [(layer.by_head(empty), layer.by_head(empty)) for layer in self._layers]

    def label(self, pieces: Tensor, word_index: Tensor) -> tuple[Tensor, ...]:
        """Return the scores of ``pieces`` (1, S), those of each head (1, S, its classes).

        They are what the network says of the whole buffer. It must begin with what it began with at the last call.
        """
        network = self._network
        numbers = word_index[0]
        settled = [int((numbers <= numbers[-1] - words).sum()) for words in self._needed_words]
        start = self._settled[0].shape[1]
        hidden = network.embedding(pieces[:, start:]) + network.positions(pieces.shape[1])[start:]
        hidden = self._grown(0, network.embedding_norm(hidden), settled[0])
        for k, (layer, words) in enumerate(zip(self._layers, network.config.look_ahead, strict=True)):
            first = self._settled[k + 1].shape[1]
            visible = network.config.sees(numbers[first:, None], numbers[None, :], words)
            encoded = self._encoded(k, layer, hidden, visible[None, None])
            hidden = self._grown(k + 1, encoded, settled[k + 1])
        return network.scores(hidden, word_index)

    def _encoded(self, k: int, layer: CTLayer, hidden: Tensor, visible: Tensor) -> Tensor:
        """Return the layer's output (1, Q, D) of the last Q places of ``hidden`` (1, S, D); keep keys and values."""
        weight, bias, width = layer.qkv.weight, layer.qkv.bias, hidden.shape[-1]
        keys, values = self._keys_values[k]
        asking = hidden[:, hidden.shape[1] - visible.shape[2] :]
        fresh = functional.linear(hidden[:, keys.shape[2] :], weight[width:], bias[width:])
        key, value = (layer.by_head(part) for part in fresh.chunk(2, dim=-1))
        key, value = torch.cat((keys, key), dim=2), torch.cat((values, value), dim=2)
        settled = self._settled[k].shape[1]
        self._keys_values[k] = (key[:, :, :settled], value[:, :, :settled])
        query = layer.by_head(functional.linear(asking, weight[:width], bias[:width]))
        return layer.mix(asking, query, key, value, visible)

    def _grown(self, k: int, fresh: Tensor, settled: int) -> Tensor:
        """Return the kept states and the fresh ones after them (1, S, D), and keep those that are settled now."""
        whole = torch.cat((self._settled[k], fresh), dim=1)
        self._settled[k] = whole[:, :settled]
        return whole
