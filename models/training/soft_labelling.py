"""A teacher's soft labels of packed text: windows in, class probabilities a word out (``models.data.taught``).

Long text is read in the windows of offline decoding: 200 words, of which 35 and 15 at the edges are context only (the
double-overlap window of discriminative self-training, section 3.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from models.data.packing import PackedText
from models.data.samples import collate
from models.data.taught import TaughtFile
from models.decoding.chunked import Chunk, split
from models.decoding.labelling_runs import OFFLINE_STEP_WORDS, OFFLINE_WORDS, OFFLINE_WORDS_CUT
from models.networks.kinds import Network

__all__ = ["HEADS", "Heads", "Teacher", "label_softly"]

Heads: TypeAlias = Literal["both", "punctuation", "disfluency"]
HEADS: tuple[Heads, ...] = ("both", "punctuation", "disfluency")
"""Which heads a teacher is asked: one that learnt no disfluencies has nothing to say of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Teacher:
    """Who labels, and how. leading: the number of the piece before the words. windows: of 200 words, read at once."""

    network: Network
    leading: int
    heads: Heads = "both"
    device: str = "cpu"
    windows: int = 16


def label_softly(
    teacher: Teacher, text: PackedText, file: TaughtFile, *, progress: Callable[[int], None] = lambda _: None
) -> None:
    """Write what ``teacher`` says of every word of ``text`` that ``file`` does not hold yet.

    progress: told how many words are done since it was told last.
    """
    teacher.network.to(teacher.device).eval()
    done = file.done
    progress(done)
    windows_of_all = split(text.words, chunk=OFFLINE_WORDS, window=OFFLINE_STEP_WORDS, min_words_cut=OFFLINE_WORDS_CUT)
    waiting = [window for window in windows_of_all if window.last > done]
    for start in range(0, len(waiting), teacher.windows):
        windows = waiting[start : start + teacher.windows]
        for window, rows in zip(windows, _probabilities(teacher, text, windows), strict=True):
            file.rows[window.first : window.last] = rows.numpy()
        progress(windows[-1].last - done)
        done = windows[-1].last
    file.close()


def _probabilities(teacher: Teacher, text: PackedText, windows: list[Chunk]) -> Iterator[Tensor]:
    """Yield the rows (words kept, P + Q) of each window, in half precision."""
    batch = collate(text, [(window.start, window.end) for window in windows], teacher.leading).to(teacher.device)
    with torch.no_grad(), torch.autocast(batch.pieces.device.type, dtype=torch.bfloat16):
        scores = teacher.network(batch.pieces, batch.word_index)
    marks, tags = (head.float().softmax(dim=-1).half().cpu() for head in scores)
    if teacher.heads == "punctuation":
        tags.zero_()
    if teacher.heads == "disfluency":
        marks.zero_()
    rows = torch.cat([marks, tags], dim=-1)
    for row, window in enumerate(windows):
        last_pieces = text.first_piece[window.first + 1 : window.last + 1] - text.first_piece[window.start]
        yield rows[row, torch.from_numpy(last_pieces)]
