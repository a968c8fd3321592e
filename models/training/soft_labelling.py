"""A teacher's soft labels of packed text: windows in, class probabilities a word out (``soft_labels``).

Long text is read in the windows of offline decoding: 200 words, of which 35 and 15 at the edges are context only (the
double-overlap window of discriminative self-training, section 3.3). Or a teacher is asked while its student trains, of
each sample as the student reads it: where a sample ends inside a sentence, neither sees how it goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from caesura.models.data.packing import PackedText
from caesura.models.data.resident_text import Batch, ResidentText
from caesura.models.data.soft_labels import Taught, TaughtFile
from caesura.models.decoding.overlapping_chunks import Chunk
from caesura.models.decoding.ways import offline_chunks
from caesura.models.networks.arithmetic import quick_arithmetic
from caesura.models.networks.registry import Network
from caesura.worker.inference.network.full_network import PADDING_WORD

HeadChoice: TypeAlias = Literal["both", "punctuation", "disfluency"]
HEADS: tuple[HeadChoice, ...] = ("both", "punctuation", "disfluency")
"""Which heads a teacher is asked, both being all of its: one that learnt no disfluencies has nothing to say of them."""

_ORDER = ("punctuation", "disfluency", "casing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Teacher:
    """Who labels, and how. leading: the number of the piece before the words. windows: of 200 words, read at once."""

    network: Network
    leading: int
    heads: HeadChoice = "both"
    device: str = "cpu"
    windows: int = 16


def label_softly(
    teacher: Teacher, text: PackedText, file: TaughtFile, *, progress: Callable[[int], None] = lambda _: None
) -> None:
    """Write what ``teacher`` says of every word of ``text`` that ``file`` does not hold yet.

    progress: told how many words are done since it was told last.
    """
    done = file.done
    progress(done)
    for window, rows in soft_rows(teacher, text, done=done):
        file.rows[window.first : window.last] = rows.numpy()
        progress(window.last - done)
        done = window.last
    file.close()


def all_rows(teacher: Teacher, text: PackedText) -> Taught:
    """Return the rows (words, classes) of a whole text, which has a word at least."""
    return np.concatenate([rows.numpy() for _, rows in soft_rows(teacher, text)])


def soft_rows(teacher: Teacher, text: PackedText, *, done: int = 0) -> Iterator[tuple[Chunk, Tensor]]:
    """Yield each window that keeps words after the ``done`` first, with the rows (words kept, classes) of those."""
    teacher.network.to(teacher.device).eval()
    resident = ResidentText(text, teacher.leading, device=teacher.device)
    waiting = [window for window in offline_chunks(text.words) if window.last > done]
    for start in range(0, len(waiting), teacher.windows):
        windows = waiting[start : start + teacher.windows]
        yield from zip(windows, _probabilities(teacher, resident, windows), strict=True)


def _probabilities(teacher: Teacher, resident: ResidentText, windows: list[Chunk]) -> Iterator[Tensor]:
    """Yield the rows (words kept, classes of all heads) of each window, in half precision."""
    batch = resident.batch([(window.start, window.end) for window in windows])
    with torch.no_grad(), quick_arithmetic(batch.pieces.device.type):
        scores = teacher.network(batch.pieces, batch.word_index)
    asked = [teacher.heads in ("both", head) for head in _ORDER]
    rows = torch.cat(
        [head.float().softmax(dim=-1) * told for head, told in zip(scores, asked, strict=False)], dim=-1
    ).half()
    rows, first_piece = rows.cpu(), resident.text.first_piece
    for row, window in enumerate(windows):
        last_pieces = first_piece[window.first + 1 : window.last + 1] - first_piece[window.start]
        yield rows[row, torch.from_numpy(last_pieces)]


def teacher_logits(teacher: Network, batch: Batch) -> Tensor:
    """Return the probabilities of all of the teacher's heads (B, S, classes) at last pieces, zeros elsewhere.

    It is on the batch's device, and reads the same pieces as its student.
    """
    with torch.no_grad(), quick_arithmetic(batch.pieces.device.type):
        scores = teacher(batch.pieces, batch.word_index)
    numbers = batch.word_index
    after = functional.pad(numbers[:, 1:], (0, 1), value=PADDING_WORD)
    last = (numbers > 0) & (numbers < PADDING_WORD) & (after != numbers)
    rows = torch.cat([head.float().softmax(dim=-1) for head in scores], dim=-1)
    return rows * last.unsqueeze(-1)
