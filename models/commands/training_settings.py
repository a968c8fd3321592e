"""What ``models train`` is told, in three groups: the network, what it learns from, and how long and fast."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from caesura.models.commands.options import CHECKPOINT, DATA, CheckpointFile, Corpus, Data, LanguageCode, Vocabulary

Device = Annotated[str, typer.Option(help="cpu or cuda.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkChoice:
    """The network and where its weights begin."""

    vocabulary: Vocabulary
    language: LanguageCode = "en"
    network: Annotated[
        str,
        typer.Option(
            help="ct, full, mpnet or task-dependency (no mask unless --look-ahead), blstm, word-cnn, t-brnn, sapr."
        ),
    ] = "ct"
    order: Annotated[
        str,
        typer.Option(
            help="Order of task-dependency: fs (features shared), dp (tags before marks), pd (marks before tags)."
        ),
    ] = "pd"
    start: Annotated[
        Path | None,
        typer.Option(
            help="safetensors of a BERT of the same shape to start from, or a checkpoint (.pt).",
            exists=True,
            dir_okay=False,
        ),
    ] = None
    start_shape: Annotated[bool, typer.Option("--start-shape", help="Take the start's width, layers, positions.")] = (
        False
    )
    start_vocabulary: Annotated[
        Path | None,
        typer.Option(help="The start's own vocabulary, where its pieces are in another order.", exists=True),
    ] = None
    heads: Annotated[int | None, typer.Option(help="Attention heads, if not the usual.")] = None
    fresh_layers: Annotated[
        int, typer.Option(help="Top layers that begin at random, not with the weights of --start.")
    ] = 0
    look_ahead: Annotated[str | None, typer.Option(help="L_i of each layer, in words, if not the usual.")] = None
    look_back: Annotated[
        int | None, typer.Option(help="Words before a word that each layer sees, if not those of the start's shape.")
    ] = None
    positions: Annotated[str | None, typer.Option(help="sinusoidal or learned, if not the usual")] = None
    dropout: float = 0.0
    casing: Annotated[bool, typer.Option("--casing", help="Add the third head, for capitals.")] = False
    casing_alone: Annotated[
        bool, typer.Option("--casing-alone", help="Leave all but the third head as the start has it.")
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LearntText:
    """What is learnt from, and what a teacher says of it."""

    data: Data = DATA
    corpus: Corpus = None
    teacher: Annotated[
        Path | None,
        typer.Option(
            help="A teacher's checkpoint, which reads the same pieces: asked at each step, of what the student reads.",
            exists=True,
            dir_okay=False,
        ),
    ] = None
    taught: Annotated[
        Path | None, typer.Option(help="Folder of a teacher's labels of the same text, as `label` writes them.")
    ] = None
    taught_unseeing: Annotated[
        bool,
        typer.Option(
            "--taught-unseeing",
            help="The labels of --taught are a reader's who saw no later word: for --unseeing steps alone.",
        ),
    ] = False
    taught_share: Annotated[float, typer.Option(help="Teacher's share (a) of the loss of a word it labelled.")] = 0.5
    pseudo: Annotated[
        list[str] | None,
        typer.Option(help="A corpus to train on with the teacher's labels in place of its own; may be repeated."),
    ] = None
    pseudo_weight: Annotated[float, typer.Option(help="Weight in the loss of a word with a pseudo label (alpha).")] = (
        1.0
    )
    smoothing: Annotated[float, typer.Option(help="Label smoothing of human labels (beta).")] = 0.0
    pseudo_smoothing: Annotated[float, typer.Option(help="Label smoothing of pseudo labels (beta).")] = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingCourse:
    """How long, how fast, on what samples, and where it is kept."""

    checkpoint: CheckpointFile = CHECKPOINT
    shorter_look_ahead: Annotated[
        float, typer.Option(help="Share of the steps that are trained with a shorter look-ahead than L.")
    ] = 0.0
    unseeing: Annotated[
        float, typer.Option(help="Share of the steps in which no word sees a later one: each is a flush's last word.")
    ] = 0.0
    end_weight: Annotated[
        float, typer.Option(help="What a sentence's end weighs in such a step, as so many other words.")
    ] = 1.0
    left_context: Annotated[float, typer.Option(help="Share of the samples that begin before their sentence.")] = 0.0
    tails: Annotated[float, typer.Option(help="Share of the samples that end inside a sentence.")] = 0.5
    longest_words: Annotated[int, typer.Option(help="Words of a sample at most.")] = 150
    max_words: Annotated[int, typer.Option(help="Words to train on.")] = 6_000_000
    max_minutes: Annotated[float, typer.Option(help="Minutes of training, if they end sooner.")] = 600.0
    max_pieces: Annotated[int, typer.Option(help="Word pieces in a training step, padding included.")] = 4096
    learning_rate: float = 3e-4
    compiled: Annotated[
        bool, typer.Option("--compiled", help="Let PyTorch compile the layers first: worth its minute on a GPU.")
    ] = False
    device: Device = "cpu"
    threads: int = 2
    seed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftLabelling:
    """What ``label`` is told: a teacher, the text, and where its labels go."""

    vocabulary: Vocabulary
    teacher: Annotated[
        Path, typer.Option(help="The teacher's checkpoint, of any network.", exists=True, dir_okay=False)
    ]
    taught: Annotated[Path, typer.Option(help="Folder for the teacher's labels, a file a corpus.")]
    data: Data = DATA
    corpus: Corpus = None
    language: LanguageCode = "en"
    only: Annotated[str, typer.Option(help="Heads that are labelled: both, punctuation or disfluency.")] = "both"
    windows: Annotated[int, typer.Option(help="Windows of 200 words a batch.")] = 16
    device: Device = "cpu"
    threads: int = 2
