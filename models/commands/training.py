"""Commands that train: ``python -m models train | label | restore``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import Progress

from models.commands.options import CHECKPOINT, DATA, SHIPPED, Checkpoint, Corpus, Data, Language, Models, Vocabulary
from models.data.packing import PackedText
from models.data.recipes import RECIPES
from models.data.taught import Taught, TaughtFile, forget_labels, load_taught, with_pseudo_sentences
from models.export.starting_model import starting_model
from models.languages import LANGUAGES
from models.networks.pieces import LEADING, read_vocabulary
from schemas.labels import Casing, Disfluency

if TYPE_CHECKING:  # the other commands run without torch
    from models.networks.kinds import Network

__all__ = ["register"]

Device = Annotated[str, typer.Option(help="cpu or cuda.")]

_TAGS, _CASINGS = len(Disfluency), len(Casing)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("train")(train_network)
    app.command("label")(label_text)
    app.command("restore")(restore_checkpoint)


def train_network(  # noqa: PLR0913 - a command's options
    *,
    vocabulary: Vocabulary,
    network: Annotated[
        str,
        typer.Option(
            help="ct, full, mpnet or task-dependency (no mask unless --look-ahead), blstm, word-cnn, t-brnn, sapr."
        ),
    ] = "ct",
    order: Annotated[
        str, typer.Option(help="Of task-dependency: fs (feature sharing), dp (marks after tags), pd (the other way).")
    ] = "pd",
    start: Annotated[
        Path | None,
        typer.Option(
            help="safetensors of a BERT of the same shape to start from, or a checkpoint (.pt).",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    start_shape: Annotated[
        bool, typer.Option("--start-shape", help="Take the start's width, layers, positions.")
    ] = False,
    start_vocabulary: Annotated[
        Path | None,
        typer.Option(help="The start's own vocabulary, where its pieces are in another order.", exists=True),
    ] = None,
    heads: Annotated[int | None, typer.Option(help="Attention heads, if not the usual.")] = None,
    fresh_layers: Annotated[int, typer.Option(help="Top layers that begin at random, not as the start's.")] = 0,
    data: Data = DATA,
    corpus: Corpus = None,
    checkpoint: Checkpoint = CHECKPOINT,
    language: Language = "en",
    look_ahead: Annotated[str | None, typer.Option(help="L_i of each layer, in words, if not the usual.")] = None,
    positions: Annotated[str | None, typer.Option(help="sinusoidal or learned, if not the usual")] = None,
    dropout: float = 0.0,
    casing: Annotated[bool, typer.Option("--casing", help="With the third head, for capitals.")] = False,
    shorter_look_ahead: Annotated[float, typer.Option(help="Share of the steps that see less far than L.")] = 0.0,
    left_context: Annotated[float, typer.Option(help="Share of the samples that begin before their sentence.")] = 0.0,
    casing_alone: Annotated[
        bool, typer.Option("--casing-alone", help="Leave all but the third head as the start has it.")
    ] = False,
    tails: Annotated[float, typer.Option(help="Share of the samples that end inside a sentence.")] = 0.5,
    longest_words: Annotated[int, typer.Option(help="Words of a sample at most.")] = 150,
    taught: Annotated[Path | None, typer.Option(help="Folder of a teacher's labels of the same text (label).")] = None,
    taught_share: Annotated[
        float, typer.Option(help="a: the teacher's share of the loss of a word it labelled.")
    ] = 0.5,
    pseudo: Annotated[
        list[str] | None,
        typer.Option(help="A corpus whose own labels are forgotten for the teacher's; again and again."),
    ] = None,
    pseudo_weight: Annotated[float, typer.Option(help="alpha: the weight of a word with the teacher's label.")] = 1.0,
    smoothing: Annotated[float, typer.Option(help="beta of human labels.")] = 0.0,
    pseudo_smoothing: Annotated[float, typer.Option(help="beta of the teacher's labels.")] = 0.0,
    max_words: Annotated[int, typer.Option(help="Words to train on.")] = 6_000_000,
    max_minutes: Annotated[float, typer.Option(help="Minutes of training, if they end sooner.")] = 600.0,
    max_pieces: Annotated[int, typer.Option(help="Padded pieces a step.")] = 4096,
    learning_rate: float = 3e-4,
    device: Device = "cpu",
    threads: int = 2,
    seed: int = 1,
) -> None:
    """Train a network on the packed text, with a teacher's labels if there are any; stop and start it as you like."""
    import torch  # noqa: PLC0415 - the other commands run without it

    from models.training.loop import TrainingPlan, train  # noqa: PLC0415
    from models.training.objective import Objective  # noqa: PLC0415

    pieces = read_vocabulary(vocabulary)
    leading = pieces.index(LEADING)
    torch.manual_seed(seed)
    asked = {"heads": heads, "positions": positions, "look_ahead": _numbers(look_ahead)}
    if network == "task-dependency":
        asked["order"] = order
    fields = _fields(network, language, start if start_shape else None, asked)
    if casing:
        fields["casing_classes"] = _CASINGS
    made = _built(network, fields | {"vocabulary_size": len(pieces), "dropout": dropout})
    if start is not None:
        rows = None if start_vocabulary is None else _rows(pieces, read_vocabulary(start_vocabulary))
        _begin(made, start, leading, fresh_layers, rows)
    if casing_alone:
        _freeze_all_but_casing(made)
    chosen = corpus or list(RECIPES[language].mix)
    text, said = _load(data, chosen, language, taught, pseudo or [], _CASINGS if casing else 0)
    print(f"{text.words} words, {len(text.pieces)} pieces")
    plan = TrainingPlan(
        max_words=max_words,
        max_s=max_minutes * 60,
        leading=leading,
        learning_rate=learning_rate,
        max_pieces=max_pieces,
        threads=threads,
        seed=seed,
        device=device,
        shorter_look_ahead=shorter_look_ahead,
        left_context=left_context,
        tails=tails,
        longest=longest_words,
        corpora=_with_what_the_start_learnt(chosen, start),
        objective=Objective(
            taught_share=taught_share,
            pseudo_weight=pseudo_weight,
            smoothing=smoothing,
            pseudo_smoothing=pseudo_smoothing,
        ),
    )
    train(made, text, plan, checkpoint, taught=said)


def _with_what_the_start_learnt(corpora: Sequence[str], start: Path | None) -> tuple[str, ...]:
    from models.networks.checkpoints import learnt_from  # noqa: PLC0415

    before = learnt_from(start) if start is not None and start.suffix == ".pt" else ()
    return tuple(dict.fromkeys((*before, *corpora)))


def _numbers(words: str | None) -> tuple[int, ...] | None:
    return tuple(int(number) for number in words.split(",")) if words else None


def _fields(network: str, language: str, shape_from: Path | None, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a ``CTConfig``: the language's, or the start's shape, and what was asked for."""
    from models.networks.full_transformer import UNLIMITED  # noqa: PLC0415
    from models.networks.pretrained import shape_of  # noqa: PLC0415

    model = LANGUAGES[language]
    fields: dict[str, Any] = {
        "width": model.width,
        "heads": model.heads,
        "inner_width": model.inner_width,
        "look_ahead": model.look_ahead,
        "positions": model.positions,
        "punctuation_classes": model.punctuation_classes,
    }
    if shape_from is not None:
        shape = shape_of(shape_from)
        layers = shape.pop("layers")
        fields |= shape
        if network == "full" or (network in ("mpnet", "task-dependency") and asked["look_ahead"] is None):
            fields["look_ahead"] = (UNLIMITED,) * layers
        elif len(asked["look_ahead"] or model.look_ahead) > layers:
            raise typer.BadParameter(f"the start has {layers} layers: give --look-ahead with no more numbers")
    return fields | {name: value for name, value in asked.items() if value is not None}


def _built(kind: str, fields: dict[str, Any]) -> Network:
    from models.networks.kinds import KINDS, build  # noqa: PLC0415

    if kind not in KINDS:
        raise typer.BadParameter(f"there is no network {kind!r}; there are {', '.join(KINDS)}")
    if kind in ("blstm", "word-cnn", "t-brnn"):
        fields = {name: fields[name] for name in ("vocabulary_size", "punctuation_classes", "dropout")}
    if kind == "sapr":
        runs = ((), *((mark,) for mark in range(1, fields["punctuation_classes"])))
        fields = {"vocabulary_size": fields["vocabulary_size"], "dropout": fields["dropout"], "runs": runs}
    return build(kind, fields)


def _freeze_all_but_casing(network: Network) -> None:
    """Keep marks and tags exactly as they are: capitals are learnt from what the layers say already."""
    casing = getattr(network, "casing", None)
    if casing is None:
        raise typer.BadParameter("there is no third head: --casing", param_hint="--casing-alone")
    network.requires_grad_(requires_grad=False)
    casing.requires_grad_(requires_grad=True)


def _rows(pieces: Sequence[str], of_the_start: Sequence[str]) -> list[int]:
    from models.networks.pretrained import rows_of  # noqa: PLC0415

    return rows_of(pieces, of_the_start)


def _begin(network: Network, start: Path, leading: int, fresh_layers: int, rows: Sequence[int] | None) -> None:
    from models.networks.ct_transformer import CTTransformer  # noqa: PLC0415
    from models.networks.pretrained import start_from_bert, start_from_checkpoint  # noqa: PLC0415

    if start.suffix == ".pt":
        start_from_checkpoint(network, start)
    elif not isinstance(network, CTTransformer):
        raise typer.BadParameter("only a Transformer starts from a BERT; this network from a checkpoint of its own")
    else:
        start_from_bert(network, start, leading, fresh_layers=fresh_layers, rows=rows)


def _load(
    data: Path, corpora: Sequence[str], language: str, taught: Path | None, pseudo: Sequence[str], casing: int
) -> tuple[PackedText, Taught | None]:
    """Return the text of the corpora one after the other, and what the teacher says of each word."""
    parts = {corpus: PackedText.load(path) for corpus, path in _packed(data, corpora).items()}
    wrong = [corpus for corpus in pseudo if corpus not in parts or taught is None]
    if wrong:
        raise typer.BadParameter(
            f"no teacher's labels are read for {', '.join(wrong)}: --taught and --corpus say which"
        )
    text = PackedText.joined([forget_labels(part) if name in pseudo else part for name, part in parts.items()])
    if taught is None:
        return text, None
    marks = LANGUAGES[language].punctuation_classes
    said = load_taught(taught, {name: part.words for name, part in parts.items()}, marks + _TAGS + casing)
    return with_pseudo_sentences(text, said, marks), said


def _packed(data: Path, corpora: Sequence[str]) -> dict[str, Path]:
    """Return the file of each corpus's packed text; refuse with the names of those that have none."""
    files = {corpus: data / f"{corpus}.npz" for corpus in corpora}
    if missing := [corpus for corpus, path in files.items() if not path.exists()]:
        raise typer.BadParameter(
            f"{data} has no packed text of {', '.join(missing)}: prepare packs it", param_hint="--data"
        )
    return files


def label_text(  # noqa: PLR0913 - a command's options
    *,
    vocabulary: Vocabulary,
    teacher: Annotated[
        Path, typer.Option(help="The teacher's checkpoint, of any network.", exists=True, dir_okay=False)
    ],
    taught: Annotated[Path, typer.Option(help="Folder that its labels go to, a file a corpus.")],
    data: Data = DATA,
    corpus: Corpus = None,
    language: Language = "en",
    only: Annotated[str, typer.Option(help="both heads, or punctuation or disfluency alone.")] = "both",
    windows: Annotated[int, typer.Option(help="Windows of 200 words a batch.")] = 16,
    device: Device = "cpu",
    threads: int = 2,
) -> None:
    """Write a teacher's class probabilities for every word of the packed text; stop and start it as you like."""
    import torch  # noqa: PLC0415 - the other commands run without it

    from models.networks.checkpoints import load_any_network  # noqa: PLC0415
    from models.training.soft_labelling import HEADS, Teacher, label_softly  # noqa: PLC0415

    chosen = next((heads for heads in HEADS if heads == only), None)
    if chosen is None:
        raise typer.BadParameter(f"{only!r} is none of {', '.join(HEADS)}")
    packed = _packed(data, corpus or list(RECIPES[language].mix))
    torch.set_num_threads(threads)
    network = load_any_network(teacher)
    config = network.config
    classes = config.punctuation_classes + config.disfluency_classes + getattr(config, "casing_classes", 0)
    leading = read_vocabulary(vocabulary).index(LEADING)
    asked = Teacher(network=network, leading=leading, heads=chosen, device=device, windows=windows)
    with Progress() as bar:
        for name, path in packed.items():
            text = PackedText.load(path)
            file = TaughtFile(taught / f"{name}.npy", text.words, classes)
            told = partial(bar.advance, bar.add_task(f"{name}: words", total=text.words))
            label_softly(asked, text, file, progress=told)


def restore_checkpoint(
    *,
    checkpoint: Annotated[Path, typer.Option(help="The file to write; a run begins at it by --start.")],
    models: Models = SHIPPED,
    language: Language = "en",
    seed: Annotated[int, typer.Option(help="Draws each weight's place within its int8 step.")] = 1,
) -> None:
    """Write the active model of a language back to a checkpoint, as a start for further training."""
    from models.export.stored_network import read_network  # noqa: PLC0415
    from models.networks.checkpoints import write_checkpoint  # noqa: PLC0415

    if checkpoint.exists():
        raise SystemExit(f"{checkpoint} is there already")
    stored = starting_model(models, language)
    network = read_network(stored, off_grid_seed=seed)
    write_checkpoint(checkpoint, network, {"corpora": list(stored.manifest.trained_on)})
    print(f"{stored.manifest.name} -> {checkpoint}")
