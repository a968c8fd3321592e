"""A causal language model as a reader: what it expects after each word, of which it knows what came before alone.

Its weights are a GGUF file, read by transformers; neither is installed with the project, and nothing but the commands
that name a reader wants them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

FOLLOWING = ((".", "!", "…"), ("?",), (",",), (";",), (":",), ("-", "—", "–", " -", " —", " –"), ("\n",))
"""How what may follow a word begins, but for a further word."""

_HEADING = "Transcript:\n\n"
_AT_ONCE = 256  # rows of the vocabulary's scores: a few hundred megabytes


class Reader(Protocol):
    """What says what follows each word of a text."""

    def said(self, words: Sequence[str], marks: Sequence[str]) -> NDArray[np.float32]:
        """Return log probabilities (words, groups of ``FOLLOWING`` and one more, for all else) after each word.

        words: as they are written. marks: what stands after each, empty for none.
        """
        ...


class CausalReader:
    """A network of transformers and its tokenizer."""

    def __init__(self, network: Any, tokenizer: Any) -> None:  # noqa: ANN401 - transformers has no types of them
        """Read with ``network``, of which the last layer's states and the rows of its vocabulary are asked."""
        self._network, self._tokenizer = network, tokenizer
        names = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
        pieces = [tokenizer.convert_tokens_to_string([name]) if name else "" for name in names]
        self._groups = [
            torch.tensor([number for number, piece in enumerate(pieces) if piece.startswith(group)], dtype=torch.long)
            for group in FOLLOWING
        ]
        self._known: dict[str, list[int]] = {}

    def said(self, words: Sequence[str], marks: Sequence[str]) -> NDArray[np.float32]:
        """Return what ``Reader.said`` asks for."""
        pieces, ends = list(self._numbers(_HEADING)), []
        for place, (word, mark) in enumerate(zip(words, marks, strict=True)):
            pieces += self._numbers((" " if place else "") + word)
            ends.append(len(pieces) - 1)
            pieces += self._numbers(mark) if mark else []
        with torch.inference_mode():
            states = self._network.model(torch.tensor([pieces])).last_hidden_state[0][torch.tensor(ends)]
            rows = [self._grouped(states[start : start + _AT_ONCE]) for start in range(0, len(ends), _AT_ONCE)]
        return torch.cat(rows).numpy()

    def _grouped(self, states: torch.Tensor) -> torch.Tensor:
        scores = (states @ self._network.lm_head.weight.T).float()
        total = scores.logsumexp(dim=-1)
        groups = torch.stack([scores[:, group].logsumexp(dim=-1) - total for group in self._groups], dim=-1)
        rest = torch.log1p(-groups.exp().sum(dim=-1, keepdim=True).clamp(max=0.9999))
        return torch.cat([groups, rest], dim=-1).clamp(min=-12.0)

    def _numbers(self, text: str) -> list[int]:
        if text not in self._known:
            self._known[text] = list(self._tokenizer(text).input_ids)
        return self._known[text]


def opened_reader(weights: Path, *, threads: int) -> CausalReader:
    """Return the reader of a GGUF file, in half precision. ValueError where what reads it is not installed."""
    try:
        import transformers  # noqa: PLC0415 - not installed with the project
    except ImportError as error:
        raise ValueError("a reader wants `pip install transformers gguf accelerate` beside the project") from error
    torch.set_num_threads(threads)
    how = {"pretrained_model_name_or_path": str(weights.parent), "gguf_file": weights.name}
    network = transformers.AutoModelForCausalLM.from_pretrained(**how, dtype=torch.bfloat16).eval()
    return CausalReader(network, transformers.AutoTokenizer.from_pretrained(**how))
