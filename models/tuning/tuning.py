"""One tune from beginning to end: text read and split, the shipped network trained on it, exported, compared.

What a tune needs to be the same one when it is started again (text, start, options) stands in ``tune.json`` of its
folder; the checkpoint and what was seen of the watched text lie beside it.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
from rich.progress import Progress, TaskID

from caesura.models.data.aligned_words import AlignedDocument
from caesura.models.data.corpora import place
from caesura.models.data.packing import PackedText, pack
from caesura.models.data.resident_text import ResidentText, batches
from caesura.models.evaluation.figures import Figure, GoldSession
from caesura.models.export.folder import ModelCard
from caesura.models.export.parity import Parity
from caesura.models.export.starting_model import wordpiece_of
from caesura.models.export.stored_network import read_network
from caesura.models.languages.registry import LANGUAGES
from caesura.models.networks.checkpoints import load_network
from caesura.models.training.averaging import mix
from caesura.models.training.loop import TrainingPlan, train
from caesura.models.tuning.comparison import Streamed, changed_tags, figures, streamed
from caesura.models.tuning.early_stopping import EarlyStopping, Look
from caesura.models.tuning.models_folder import publish
from caesura.models.tuning.own_text import OwnFile, aligned, session_of
from caesura.models.tuning.text_split import TextParts
from caesura.schemas.model_manifest import ModelManifest
from caesura.worker.errors import FatalError
from caesura.worker.inference.model.model_folder import StoredModel, read_models_folder

_NAME_PART = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
_OWN_TEXT = "own text"
_FEWEST_WORDS = 1_000
_LOOKS_AN_EPOCH = 2
_MAX_PIECES = 1024
_LEFT_CONTEXT = 0.5  # as in the recipe of the shipped models: a buffer begins with words of the sentence before
_MAX_WATCHED_WORDS = 20_000
_MAX_PARITY_WORDS = 12_000


class TuningPlan(msgspec.Struct, frozen=True, kw_only=True):
    """How to tune. epochs: passes over the text at most; patience: looks (two an epoch) without a gain that end it.

    fluent: the text has no fillers and repairs, so some are put in, and the network keeps knowing them. kept: the share
    of the model begun at in what is exported (``averaging``); it forgets less, and learns less.
    """

    language: str
    epochs: int
    patience: int
    learning_rate: float
    max_minutes: float
    fluent: bool
    threads: int
    seed: int
    kept: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """What came of it. looks: what was seen of the watched text, the first of it before training."""

    manifest: ModelManifest
    parity: Parity
    looks: tuple[Look, ...]
    figures: list[Figure]
    changed_tags: str


def card_of(start: StoredModel, language: str, model_id: str, version: str) -> ModelCard:
    """Return what the manifest says of a model that was tuned on text of a language.

    FatalError for a name that none can have, or that is taken.
    """
    if not _NAME_PART.fullmatch(model_id) or not _NAME_PART.fullmatch(version):
        raise FatalError("a model's id and version are letters, digits, dots, dashes and underscores")
    taken = {stored.manifest.name for stored in read_models_folder(start.folder.parent)}
    if f"{model_id}@{version}" in taken:
        raise FatalError(f"there is a model {model_id}@{version} already: give another --id or --version")
    return ModelCard(
        id=model_id,
        version=version,
        language=language,
        licence=start.manifest.licence,
        trained_on=(*start.manifest.trained_on, _OWN_TEXT),
        dictionary=start.manifest.dictionary_sha256 is not None,
    )


def tune(parts: TextParts, start: StoredModel, card: ModelCard, plan: TuningPlan, out: Path) -> Tuned:
    """Tune the network of ``start`` on the text's training part; write ``out/models``. FatalError where it cannot be.

    Started again with the same text and options it goes on where it was; with others it refuses.
    """
    tokenizer = wordpiece_of(start)
    text = pack((to_learn(file, plan) for file in parts.training), tokenizer)
    if text.words < _FEWEST_WORDS:
        raise FatalError(f"{text.words} words are left to train on, at least {_FEWEST_WORDS} are needed")
    watched = pack(_first_words([aligned(file, plan.language) for file in parts.watched]), tokenizer)
    _claim(out, parts, start, plan)
    with Progress() as bar:
        watcher = _trained(text, watched, start, plan, out, bar)
        if watcher.best_look.share == 0:
            raise FatalError("the watched text was best labelled by the model begun at: nothing is exported")
        held_out = [word for file in parts.watched + parts.scored for word in aligned(file, plan.language).words]
        network = load_network(watcher.best)
        if plan.kept:
            mix([network, read_network(start, off_grid_seed=plan.seed)], [1 - plan.kept, plan.kept])
        manifest, parity = publish(network, start, card, held_out[:_MAX_PARITY_WORDS], out)
        sessions = [session_of(file, plan.language) for file in parts.scored]
        before = _scored("before", start.folder.parent, sessions, plan, bar)
        after = _scored("after", out / "models", sessions, plan, bar)
    return Tuned(
        manifest=manifest,
        parity=parity,
        looks=watcher.looks,
        figures=figures("before", sessions, before, plan.language) + figures("after", sessions, after, plan.language),
        changed_tags=changed_tags(before, after),
    )


def _scored(name: str, models: Path, sessions: list[GoldSession], plan: TuningPlan, bar: Progress) -> Streamed:
    task = bar.add_task(f"scoring {name}", total=sum(len(session.units) for session in sessions))
    return streamed(models, sessions, plan.language, threads=plan.threads, progress=partial(bar.advance, task))


def _claim(out: Path, parts: TextParts, start: StoredModel, plan: TuningPlan) -> None:
    """Note whose folder ``out`` is; FatalError where it is another tune's, or none's."""
    digest = hashlib.sha256()
    for part in (parts.training, parts.watched, parts.scored):
        for file in part:
            digest.update("\n".join((file.name, *file.paragraphs, "")).encode())
    identity = {"text": digest.hexdigest(), "start": start.manifest.name, **msgspec.to_builtins(plan)}
    del identity["threads"], identity["kept"]  # another machine may go on with it, and export another mixture
    path = out / "tune.json"
    if path.exists():
        stored = msgspec.json.decode(path.read_bytes())
        differ = [name for name in identity if stored.get(name) != identity[name]]
        if differ:
            raise FatalError(
                f"{out} holds a tune that was begun with other values of {', '.join(differ)}: "
                "give the same ones to go on with it, another --out, or delete that folder"
            )
        return
    if out.exists() and any(out.iterdir()):
        raise FatalError(f"{out} is not empty and holds no tune: give another --out")
    out.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(identity), indent=2) + b"\n")


def _trained(
    text: PackedText, watched: PackedText, start: StoredModel, plan: TuningPlan, out: Path, bar: Progress
) -> EarlyStopping:
    """Train until the watcher has seen enough, and return it; nothing is left to do for a tune that has ended."""
    leading = wordpiece_of(start).number(start.manifest.wordpiece.leading)
    resident = ResidentText(watched, leading)
    looks_at = list(batches(resident, max_pieces=_MAX_PIECES, seed=plan.seed, left_context=_LEFT_CONTEXT))
    watcher = EarlyStopping(out, looks_at, plan.patience, tell=bar.print)
    if watcher.ended:
        return watcher
    network = read_network(start, off_grid_seed=plan.seed)
    if not watcher.looks:
        watcher(network, 0.0)
    task = bar.add_task("training", total=1.0)
    steps = TrainingPlan(
        max_words=plan.epochs * text.words,
        max_s=plan.max_minutes * 60,
        leading=leading,
        learning_rate=plan.learning_rate,
        max_pieces=_MAX_PIECES,
        left_context=_LEFT_CONTEXT,
        checkpoint_words=text.words / _LOOKS_AN_EPOCH,
        threads=plan.threads,
        seed=plan.seed,
    )
    tell = partial(_advance, bar, task)
    checkpoint = out / "checkpoint.pt"
    train(network, text, steps, checkpoint, watch=watcher, report=tell)
    bar.update(task, completed=1.0)
    checkpoint.unlink()  # what has ended is not gone on with, and it is three times as large as the network
    return watcher


def _advance(bar: Progress, task: TaskID, share: float, _: str) -> None:
    bar.update(task, completed=share)


def to_learn(file: OwnFile, plan: TuningPlan) -> AlignedDocument:
    """Return what is trained on of a document: its words, and in fluent text fillers and repairs among them."""
    document = aligned(file, plan.language, fluent=plan.fluent)
    if not plan.fluent:
        return document
    return LANGUAGES[plan.language].recipe.disfluent(document, random.Random(plan.seed ^ place(file.name)))


def _first_words(documents: Sequence[AlignedDocument]) -> list[AlignedDocument]:
    left = _MAX_WATCHED_WORDS
    kept: list[AlignedDocument] = []
    for document in documents:
        if left > 0:
            kept.append(document.first(left))
            left -= len(document.words)
    return kept
