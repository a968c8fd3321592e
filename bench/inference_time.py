"""Inference time of CT-Transformer, Full-Transformer and BLSTM on one set, one core: the paper's table 3, as ratios.

    python -m bench.inference_time

Every network labels the same buffers, one at a time: those that the paper's fast decoding (Algorithm 1, F = 3, T = 6,
no left context) makes of held-out open text with the labels of the shipped English model. The networks have the paper's
shape (6 layers, width 512, 8 heads, inner width 2048; LSTM 6 x 512) and random weights, which cost what trained ones
do; fp32, PyTorch, one thread. The paper does not say whether 512 is an LSTM's size a direction or of both together, so
both are here. Networks run in turn, round after round, in one process; the best round counts, in processor seconds.

A Full-Transformer re-reads its buffer at every step as the CT-Transformer does here, so the mask itself saves nothing.
What it allows is in the last rows: what is settled is kept (``models/networks/kept_states.py``).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from bench.machine import write_result
from caesura.models.data.preparation import held_out
from caesura.models.decoding.labelled_stream import WatchedEngine, run_stream
from caesura.models.evaluation.sweeps import SWEEP_CORPORA
from caesura.models.export.parity import encode
from caesura.models.export.starting_model import starting_model
from caesura.models.languages.english import ENGLISH
from caesura.models.networks.blstm import BLSTM, BLSTMConfig
from caesura.models.networks.ct_transformer import CTConfig, CTTransformer
from caesura.models.networks.full_transformer import FullTransformer
from caesura.models.networks.kept_states import KeptStates
from caesura.models.networks.pieces import LEADING, MAX_PIECES, UNKNOWN_PIECE
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.inference.model.wordpiece import WordPiece

PAPER_LOOK_AHEAD = (0, 0, 0, 0, 0, 9)
SPREAD_LOOK_AHEAD = (1, 1, 1, 2, 2, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """One labelling: pieces and word numbers (1, S), and whether the buffer begins where the one before it did."""

    pieces: Tensor
    word_index: Tensor
    goes_on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One network: its size, its time for the set, and how many times faster than the first row's it is."""

    network: str
    million_parameters: float
    seconds: float
    ratio: float


Labelling = Callable[[Buffer], tuple[Tensor, ...]]


def buffers_of(texts: Sequence[Sequence[str]], models: Path, vocabulary: Sequence[str]) -> Iterator[Buffer]:
    """Yield the buffers that the stream labels, in their order."""
    engine = WatchedEngine(OnnxEngine(models, threads=1))
    tokenizer = WordPiece(vocabulary, max_pieces=MAX_PIECES, unknown=UNKNOWN_PIECE)
    leading = tokenizer.number(LEADING)
    for words in texts:
        start = -1
        for step in run_stream(engine, words, rules=DecodingRules(max_context_words=0, context_words=0)).steps:
            pieces, word_index, _ = encode([words[step.start : step.heard]], tokenizer, leading)
            yield Buffer(
                pieces=torch.from_numpy(pieces),
                word_index=torch.from_numpy(word_index),
                goes_on=step.start == start,
            )
            start = step.start


def networks(vocabulary_size: int) -> Iterator[tuple[str, torch.nn.Module, Labelling]]:
    """Yield each network by name, with what labels a buffer with it."""
    torch.manual_seed(1)
    paper = CTConfig(vocabulary_size=vocabulary_size, width=512, heads=8, inner_width=2048, look_ahead=PAPER_LOOK_AHEAD)
    small, large = (BLSTMConfig(vocabulary_size=vocabulary_size, width=512, hidden=hidden) for hidden in (256, 512))
    read_again = {
        "BLSTM, 512 a direction": BLSTM(large),
        "BLSTM, 512 both directions": BLSTM(small),
        "Full-Transformer": FullTransformer(paper),
        "CT-Transformer": CTTransformer(paper),
    }
    for name, network in read_again.items():
        yield name, network.eval(), partial(_reading, network)
    for look_ahead in (PAPER_LOOK_AHEAD, SPREAD_LOOK_AHEAD):
        masked = CTTransformer(replace(paper, look_ahead=look_ahead)).eval()
        yield f"CT-Transformer, L = {','.join(map(str, look_ahead))}, what is settled kept", masked, keeping(masked)


def _reading(network: torch.nn.Module, buffer: Buffer) -> tuple[Tensor, ...]:
    return network(buffer.pieces, buffer.word_index)  # type: ignore[no-any-return]


def keeping(network: CTTransformer) -> Labelling:
    """Return what labels buffers in their order with a network that keeps what is settled as long as one goes on."""
    kept = KeptStates(network)

    def label(buffer: Buffer) -> tuple[Tensor, ...]:
        nonlocal kept
        if not buffer.goes_on:
            kept = KeptStates(network)
        return kept.label(buffer.pieces, buffer.word_index)

    return label


def measure(buffers: Sequence[Buffer], vocabulary_size: int, rounds: int) -> Iterator[Row]:
    """Yield a row a network; the first round warms up."""
    built = list(networks(vocabulary_size))
    best: dict[str, float] = {}
    with torch.inference_mode():
        for turn in range(rounds + 1):
            for name, _, label in built:
                began_s = time.process_time()
                for buffer in buffers[: len(buffers) if turn else 20]:
                    label(buffer)
                took_s = time.process_time() - began_s
                if turn:
                    best[name] = min(took_s, best.get(name, took_s))
    slowest = best[built[0][0]]
    for name, network, _ in built:
        parameters = sum(parameter.numel() for parameter in network.parameters()) / 1e6
        yield Row(
            network=name,
            million_parameters=round(parameters, 1),
            seconds=round(best[name], 2),
            ratio=round(slowest / best[name], 2),
        )


def main() -> None:
    """Measure, print the table, and write the result beside this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, default=Path("models/shipped"), help="models folder whose labels cut")
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"), help="folder of the corpora")
    parser.add_argument("--max-words", type=int, default=400, help="held-out words a corpus")
    parser.add_argument("--rounds", type=int, default=3, help="rounds, of which the best counts")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    documents = [
        one
        for name in SWEEP_CORPORA
        for one in held_out(ENGLISH.recipe, options.corpora, name, max_words=options.max_words)
    ]
    vocabulary = starting_model(options.models, "en").vocabulary()
    buffers = list(buffers_of([document.words for document in documents], options.models, vocabulary))
    pieces = sum(buffer.pieces.shape[1] for buffer in buffers)
    rows = list(measure(buffers, len(vocabulary), options.rounds))
    print(f"{len(buffers)} buffers, {pieces} pieces\n")
    print("| network | parameters, million | s | times faster |\n|---|---|---|---|")
    for row in rows:
        print(f"| {row.network} | {row.million_parameters} | {row.seconds:.1f} | {row.ratio:.2f} |")
    result = {
        "set": {"words": sum(len(document.words) for document in documents), "buffers": len(buffers), "pieces": pieces},
        "rows": [asdict(row) for row in rows],
    }
    command = f"python -m bench.inference_time --max-words {options.max_words}"
    write_result("inference_time", command, result, out=options.out)


if __name__ == "__main__":
    main()
