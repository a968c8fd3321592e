"""Commands of the papers' systems: ``python -m caesura.models papers-pack | papers-train | papers-tables``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from caesura.models.commands.options import CORPORA, Corpora, Vocabulary
from caesura.worker.option_groups import grouped

if TYPE_CHECKING:  # the other commands run without torch
    from caesura.models.evaluation.papers.plans import Scope

_FOLDER = Path("build/papers")
_PLANS = ("joint", "self-training", "sapr")
Folder = Annotated[Path, typer.Option(help="Where text, tests and results lie: data/, tests/ and out/ in it.")]
PlanNames = Annotated[
    list[str] | None, typer.Option("--plan", help=f"One of {', '.join(_PLANS)}; may be repeated; all if none is given.")
]
StartFile = Annotated[Path, typer.Option(help="safetensors of a BERT or an MPNet.", exists=True, dir_okay=False)]
Layers = Annotated[int, typer.Option(help="Layers of the encoder to use, from the lowest.")]
EncoderHeads = Annotated[int | None, typer.Option(help="Attention heads of the encoder, if they are not 64 wide.")]
Width = Annotated[int, typer.Option(help="Width of SAPR, Word-CNN and T-BRNN, a multiple of 64.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("papers-pack")(pack_papers)
    app.command("papers-train")(train_papers)
    app.command("papers-tables")(papers_tables)
    app.command("papers-side-by-side")(papers_side_by_side)


def pack_papers(
    *,
    vocabulary: Vocabulary,
    corpora: Corpora = CORPORA,
    folder: Folder = _FOLDER,
    max_words: Annotated[int, typer.Option(help="Words of each kind of text to pack for joint marks.")] = 2_000_000,
) -> None:
    """Pack the tests of the papers' tables, and the novels and the talk that joint marks are learnt from.

    What else they learn from ``prepare`` packs: ted and swda_marked (--benchmark), cabnc, earnings22, crd3 and ami.
    """
    from caesura.models.data.paper_texts import pack_joint_text, pack_tests  # noqa: PLC0415 - the other commands need none
    from caesura.models.networks.pieces import MAX_PIECES, UNKNOWN_PIECE, read_vocabulary  # noqa: PLC0415
    from caesura.worker.inference.model.wordpiece import WordPiece  # noqa: PLC0415

    tokenizer = WordPiece(read_vocabulary(vocabulary), max_pieces=MAX_PIECES, unknown=UNKNOWN_PIECE)
    for line in pack_tests(corpora, folder / "tests", tokenizer):
        print(line, flush=True)
    for line in pack_joint_text(corpora, folder / "data", folder / "tests", tokenizer, max_words=max_words):
        print(line, flush=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class PapersTrained:
    """What ``papers-train`` is told."""

    vocabulary: Vocabulary
    start: StartFile
    layers: Layers = 10
    heads: EncoderHeads = None
    plan: PlanNames = None
    folder: Folder = _FOLDER
    seeds: int = 3
    scale: Annotated[float, typer.Option(help="Multiplies the words that each run learns from.")] = 1.0
    learning_rate: Annotated[float, typer.Option(help="Learning rate of the runs that begin at the encoder.")] = 1e-4
    max_pieces: Annotated[int, typer.Option(help="Word pieces in a training step, padding included.")] = 3072
    width: Width = 384
    only: Annotated[str, typer.Option(help="Only runs whose name contains this.")] = ""
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu"
    processes: Annotated[int, typer.Option(help="Runs at the same time.")] = 1
    threads: int = 1
    begin_minutes: Annotated[float, typer.Option(help="Minutes after which no further run begins.")] = 1e6


@grouped
def train_papers(asked: PapersTrained) -> None:
    """Train and label: task dependency (joint), discriminative self-training, SAPR with Word-CNN and T-BRNN (sapr).

    A run that is done is not done again, so the command may be stopped and started as you like.
    """
    from caesura.models.evaluation.papers.runs import Workplace  # noqa: PLC0415 - the other commands run without torch
    from caesura.models.evaluation.papers.schedule import RunBudget, work_through  # noqa: PLC0415

    if wrong := set(asked.plan or ()) - set(_PLANS):
        raise typer.BadParameter(f"{', '.join(sorted(wrong))}: not among {', '.join(_PLANS)}", param_hint="--plan")
    place = Workplace(
        vocabulary=asked.vocabulary,
        start=asked.start,
        data=asked.folder / "data",
        tests=asked.folder / "tests",
        out=asked.folder / "out",
        device=asked.device,
        threads=asked.threads,
    )
    place.out.mkdir(parents=True, exist_ok=True)
    begun: dict[str, Any] = {"learning_rate": asked.learning_rate, "max_pieces": asked.max_pieces}
    scope = replace(
        _scope(asked.start, asked.layers, asked.heads, asked.width), seeds=asked.seeds, scale=asked.scale, **begun
    )
    budget = RunBudget(processes=asked.processes, begin_s=asked.begin_minutes * 60, only=asked.only)
    work_through(asked.plan or _PLANS, scope, place, budget)


def papers_tables(
    *,
    folder: Folder = _FOLDER,
    plan: PlanNames = None,
) -> None:
    """Print the papers' tables in shape, of the runs that are done, with 95 % intervals."""
    from caesura.models.evaluation.papers.tables import TABLES  # noqa: PLC0415 - the other commands run without torch

    for name in plan or _PLANS:
        for heading, table in TABLES[name](folder / "data", folder / "tests", folder / "out"):
            print(f"\n{heading}\n\n{table}")


def papers_side_by_side(
    *,
    vocabulary: Vocabulary,
    start: StartFile,
    folder: Folder = _FOLDER,
    layers: Layers = 10,
    heads: EncoderHeads = None,
    width: Width = 384,
    ours: Annotated[
        list[Path] | None,
        typer.Option(help="A models folder whose English models come last; may be repeated.", file_okay=False),
    ] = None,
) -> None:
    """Print the systems that are done on one text: F1 offline and as a stream, parameters, processor time a word."""
    from caesura.models.data.packed_tests import PackedTest  # noqa: PLC0415 - the other commands run without torch
    from caesura.models.evaluation.papers.ours import ours_rows  # noqa: PLC0415
    from caesura.models.evaluation.papers.side_by_side import side_by_side  # noqa: PLC0415
    from caesura.models.evaluation.papers.tables import Results  # noqa: PLC0415
    from caesura.models.networks.pieces import LEADING, read_vocabulary  # noqa: PLC0415

    pieces = read_vocabulary(vocabulary)
    results = Results(folder / "data", folder / "tests", folder / "out")
    tests = {name: PackedTest.load(folder / "tests" / f"{name}.npz") for name in ("REF", "ASR")}
    rows = [row for models in ours or () for row in ours_rows(models, tests, pieces)]
    scope = _scope(start, layers, heads, width)
    leading = pieces.index(LEADING)
    for heading, table in side_by_side(scope, results, tests["REF"], len(pieces), leading, ours=rows):
        print(f"\n{heading}\n\n{table}")


def _scope(start: Path, layers: int, heads: int | None, width: int) -> Scope:
    from caesura.models.evaluation.papers.plans import Scope  # noqa: PLC0415 - see above
    from caesura.models.networks.pretrained import shape_of  # noqa: PLC0415

    shape = shape_of(start) | ({} if heads is None else {"heads": heads})
    shape.pop("layers")
    return Scope(seeds=1, scale=1.0, encoder=shape, layers=layers, width=width)
