"""Commands that train: ``python -m caesura.models train | label | restore``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import Progress

from caesura.models.commands.options import SHIPPED, LanguageCode, Models, packed_files
from caesura.models.commands.training_settings import LearntText, NetworkChoice, SoftLabelling, TrainingCourse
from caesura.models.data.packing import PackedText
from caesura.models.data.soft_labels import Taught, TaughtFile, forget_labels, load_taught, with_pseudo_sentences
from caesura.models.export.starting_model import starting_model
from caesura.models.languages.registry import LANGUAGES
from caesura.models.networks.pieces import LEADING, read_vocabulary
from caesura.schemas.labels import Casing, Disfluency
from caesura.worker.option_groups import grouped

if TYPE_CHECKING:  # the other commands run without torch
    from caesura.models.networks.registry import Network

_TAGS, _CASINGS = len(Disfluency), len(Casing)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("train")(grouped(train_network))
    app.command("label")(grouped(label_text))
    app.command("restore")(restore_checkpoint)


def train_network(choice: NetworkChoice, learnt: LearntText, course: TrainingCourse) -> None:
    """Train a network on the packed text, with a teacher's labels if there are any; stop and start it as you like."""
    if learnt.teacher is not None and learnt.taught is not None and not learnt.taught_unseeing:
        raise typer.BadParameter(
            "--teacher is asked at each step in place of the labels of --taught: give one of them, or --taught-unseeing"
        )
    if learnt.taught_unseeing and (learnt.taught is None or not course.unseeing):
        raise typer.BadParameter("--taught-unseeing is of the labels of --taught in the steps of --unseeing: give both")
    import torch  # noqa: PLC0415 - the other commands run without it

    from caesura.models.networks.arithmetic import compile_layers  # noqa: PLC0415
    from caesura.models.networks.checkpoints import load_any_network  # noqa: PLC0415
    from caesura.models.training.loop import TeacherTargets, TrainingPlan, train  # noqa: PLC0415
    from caesura.models.training.objective import Objective  # noqa: PLC0415

    pieces = read_vocabulary(choice.vocabulary)
    torch.manual_seed(course.seed)
    made = _made(choice, pieces)
    corpora = learnt.corpus or list(LANGUAGES[choice.language].recipe.mix)
    text, said = _load(learnt, corpora, choice.language, _CASINGS if choice.casing else 0)
    print(f"{text.words} words, {len(text.pieces)} pieces")
    plan = TrainingPlan(
        max_words=course.max_words,
        max_s=course.max_minutes * 60,
        leading=pieces.index(LEADING),
        learning_rate=course.learning_rate,
        max_pieces=course.max_pieces,
        threads=course.threads,
        seed=course.seed,
        device=course.device,
        shorter_look_ahead=course.shorter_look_ahead,
        unseeing=course.unseeing,
        end_weight=course.end_weight,
        taught_unseeing=learnt.taught_unseeing,
        left_context=course.left_context,
        tails=course.tails,
        longest=course.longest_words,
        corpora=_with_what_the_start_learnt(corpora, choice.start),
        objective=Objective(
            taught_share=learnt.taught_share,
            pseudo_weight=learnt.pseudo_weight,
            smoothing=learnt.smoothing,
            pseudo_smoothing=learnt.pseudo_smoothing,
        ),
    )
    teacher = None if learnt.teacher is None else load_any_network(learnt.teacher)
    for network in (made, teacher):
        if course.compiled and network is not None:
            compile_layers(network)
    train(made, text, plan, course.checkpoint, told=TeacherTargets(rows=said, teacher=teacher))


def _made(choice: NetworkChoice, pieces: Sequence[str]) -> Network:
    """Return the network, with the start's weights where there is one."""
    asked = {
        "heads": choice.heads,
        "positions": choice.positions,
        "look_ahead": _numbers(choice.look_ahead),
        "look_back": choice.look_back,
    }
    if choice.network == "task-dependency":
        asked["order"] = choice.order
    fields = _fields(choice.network, choice.language, choice.start if choice.start_shape else None, asked)
    if choice.casing:
        fields["casing_classes"] = _CASINGS
    made = _built(choice.network, fields | {"vocabulary_size": len(pieces), "dropout": choice.dropout})
    if choice.start is not None:
        other = choice.start_vocabulary
        rows = None if other is None else _rows(pieces, read_vocabulary(other))
        _begin(made, choice.start, pieces.index(LEADING), choice.fresh_layers, rows)
    if choice.casing_alone:
        _freeze_all_but_casing(made)
    return made


def _with_what_the_start_learnt(corpora: Sequence[str], start: Path | None) -> tuple[str, ...]:
    from caesura.models.networks.checkpoints import learnt_from  # noqa: PLC0415

    before = learnt_from(start) if start is not None and start.suffix == ".pt" else ()
    return tuple(dict.fromkeys((*before, *corpora)))


def _numbers(words: str | None) -> tuple[int, ...] | None:
    try:
        return tuple(int(number) for number in words.split(",")) if words else None
    except ValueError as error:
        raise typer.BadParameter(f"{words!r}: give whole numbers, commas between", param_hint="--look-ahead") from error


def _fields(network: str, language: str, shape_from: Path | None, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a ``CTConfig``: the language's, or the start's shape, and what was asked for."""
    from caesura.models.networks.full_transformer import UNLIMITED  # noqa: PLC0415
    from caesura.models.networks.pretrained import shape_of  # noqa: PLC0415

    model = LANGUAGES[language].model
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
    from caesura.models.networks.registry import KINDS, build  # noqa: PLC0415

    if kind not in KINDS:
        raise typer.BadParameter(f"there is no network {kind!r}; there are {', '.join(KINDS)}")
    if kind in ("blstm", "word-cnn", "t-brnn"):
        fields = {name: fields[name] for name in ("vocabulary_size", "punctuation_classes", "dropout")}
    if kind == "sapr":
        runs = ((), *((mark,) for mark in range(1, fields["punctuation_classes"])))
        fields = {"vocabulary_size": fields["vocabulary_size"], "dropout": fields["dropout"], "runs": runs}
    try:
        return build(kind, fields)
    except ValueError as error:  # a shape that cannot be
        raise typer.BadParameter(str(error)) from error


def _freeze_all_but_casing(network: Network) -> None:
    """Keep marks and tags exactly as they are: capitals are learnt from what the layers say already."""
    casing = getattr(network, "casing", None)
    if casing is None:
        raise typer.BadParameter("there is no third head: --casing", param_hint="--casing-alone")
    network.requires_grad_(requires_grad=False)
    casing.requires_grad_(requires_grad=True)


def _rows(pieces: Sequence[str], of_the_start: Sequence[str]) -> list[int]:
    from caesura.models.networks.pretrained import rows_of  # noqa: PLC0415

    return rows_of(pieces, of_the_start)


def _begin(network: Network, start: Path, leading: int, fresh_layers: int, rows: Sequence[int] | None) -> None:
    from caesura.models.networks.ct_transformer import CTTransformer  # noqa: PLC0415
    from caesura.models.networks.pretrained import start_from_bert, start_from_checkpoint  # noqa: PLC0415

    if start.suffix == ".pt":
        start_from_checkpoint(network, start)
    elif not isinstance(network, CTTransformer):
        raise typer.BadParameter("only a Transformer starts from a BERT; this network from a checkpoint of its own")
    else:
        start_from_bert(network, start, leading, fresh_layers=fresh_layers, rows=rows)


def _load(learnt: LearntText, corpora: Sequence[str], language: str, casing: int) -> tuple[PackedText, Taught | None]:
    """Return the text of the corpora one after the other, and what the teacher says of each word.

    A corpus that is named twice is read twice in each pass.
    """
    taught, pseudo = learnt.taught, learnt.pseudo or []
    parts = {corpus: PackedText.load(path) for corpus, path in packed_files(learnt.data, corpora).items()}
    wrong = [corpus for corpus in pseudo if corpus not in parts or taught is None]
    if wrong:
        raise typer.BadParameter(
            f"no teacher's labels are read for {', '.join(wrong)}: --taught and --corpus say which"
        )
    parts |= {name: forget_labels(parts[name]) for name in pseudo}
    text = PackedText.joined([parts[name] for name in corpora])
    if taught is None:
        return text, None
    marks = LANGUAGES[language].model.punctuation_classes
    said = load_taught(taught, [(name, parts[name].words) for name in corpora], marks + _TAGS + casing)
    return with_pseudo_sentences(text, said, marks), said


def label_text(asked: SoftLabelling) -> None:
    """Write a teacher's class probabilities for every word of the packed text; stop and start it as you like."""
    import torch  # noqa: PLC0415 - the other commands run without it

    from caesura.models.networks.checkpoints import load_any_network  # noqa: PLC0415
    from caesura.models.training.soft_labelling import HEADS, Teacher, label_softly  # noqa: PLC0415

    chosen = next((heads for heads in HEADS if heads == asked.only), None)
    if chosen is None:
        raise typer.BadParameter(f"{asked.only!r} is none of {', '.join(HEADS)}")
    packed = packed_files(asked.data, asked.corpus or list(LANGUAGES[asked.language].recipe.mix))
    torch.set_num_threads(asked.threads)
    network = load_any_network(asked.teacher)
    config = network.config
    classes = config.punctuation_classes + config.disfluency_classes + getattr(config, "casing_classes", 0)
    leading = read_vocabulary(asked.vocabulary).index(LEADING)
    teacher = Teacher(network=network, leading=leading, heads=chosen, device=asked.device, windows=asked.windows)
    with Progress() as bar:
        for name, path in packed.items():
            text = PackedText.load(path)
            file = TaughtFile(asked.taught / f"{name}.npy", text.words, classes)
            told = partial(bar.advance, bar.add_task(f"{name}: words", total=text.words))
            label_softly(teacher, text, file, progress=told)


def restore_checkpoint(
    *,
    checkpoint: Annotated[Path, typer.Option(help="The file to write; a run begins at it by --start.")],
    models: Models = SHIPPED,
    language: LanguageCode = "en",
    seed: Annotated[int, typer.Option(help="Draws each weight's place within its int8 step.")] = 1,
) -> None:
    """Write the active model of a language back to a checkpoint, as a start for further training."""
    from caesura.models.export.stored_network import read_network  # noqa: PLC0415
    from caesura.models.networks.checkpoints import write_checkpoint  # noqa: PLC0415

    if checkpoint.exists():
        raise SystemExit(f"{checkpoint} is there already")
    stored = starting_model(models, language)
    network = read_network(stored, off_grid_seed=seed)
    write_checkpoint(checkpoint, network, {"corpora": list(stored.manifest.trained_on)})
    print(f"{stored.manifest.name} -> {checkpoint}")
