"""What is said of the last word of each of many samples, of which no later word is known: one pass over each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from caesura.models.data.packing import PackedText
from caesura.models.data.resident_text import ResidentText
from caesura.models.data.samples import Sample
from caesura.models.networks.arithmetic import quick_arithmetic
from caesura.models.networks.ct_transformer import last_pieces

_AT_ONCE = 64


def of_last_words(
    ask: Callable[[Tensor, Tensor], Tensor],
    text: PackedText,
    samples: Sequence[Sample],
    leading: int,
    *,
    device: str = "cpu",
    progress: Callable[[int], None] = lambda _: None,
) -> Tensor:
    """Return a row (samples, N) for each sample, one at least, on the CPU in single precision.

    ask: from pieces and word numbers (B, S), as a network takes them, to rows (B, S, N). leading: the number of the
    piece before the words. progress: told how many samples are done since it was told last.
    """
    resident = ResidentText(text, leading, device=device)
    pieces = [int(text.first_piece[stop] - text.first_piece[first]) for first, stop in samples]
    by_length = np.argsort(pieces, kind="stable")
    rows: list[Tensor] = []
    for first in range(0, len(samples), _AT_ONCE):
        some = by_length[first : first + _AT_ONCE]
        batch = resident.batch([samples[k] for k in some])
        with torch.no_grad(), quick_arithmetic(batch.pieces.device.type):
            said = ask(batch.pieces, batch.word_index)
        rows.append(said[last_pieces(batch.word_index)].float().cpu())
        progress(len(some))
    return torch.cat(rows)[np.argsort(by_length)]
