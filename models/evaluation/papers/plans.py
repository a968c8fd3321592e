"""What is trained for the papers' tables: a run is one network, what it learns from, and what it is tested on.

Three plans, by name in ``PLANS``. Each is a function of the runs that are done, for the self-training one chooses by
its tuning half what is trained next: it returns every run that can be named so far, those that are done among them.

- ``joint``: one task alone, feature sharing, DP and PD (Lin & Wang 2020), trained SEP (marks of talks, tags of
  Switchboard) and COMBINE (Switchboard with both), from the same pre-trained encoder; and under the CT mask.
- ``self-training``: the ablation of Chen et al. 2021, table 4, whose alpha and betas the tuning half chooses.
- ``sapr``: SAPR, Word-CNN and T-BRNN (Wang et al. 2018), each sentence by itself or running text, and joint marks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from statistics import mean
from typing import Any

from caesura.models.data.samples import LONGEST_WORDS
from caesura.models.evaluation.windows import DoubleOverlap
from caesura.models.networks.full_transformer import UNLIMITED
from caesura.models.training.objective import Objective

TALK_TESTS = ("REF", "ASR", "dev tuning", "dev reported")
HUMAN, SPEECH = "ted", ("cabnc", "earnings22", "crd3", "ami")
ALPHAS = (1.0, 0.5, 0.25)
BETAS = ((0.1, 0.1), (0.05, 0.2), (0.0, 0.1))
"""Smoothing of human and of pseudo labels: one pair alike for both, two that tell them apart."""
_LOOK_AHEAD_WORDS = 9
_SAPR_WORDS = 40
"""A decoder soon finds its place in a short source, and in a hundred words not at all (docs/papers.md)."""
_PLAIN = Objective()


@dataclass(frozen=True, slots=True, kw_only=True)
class Learnt:
    """A packed corpus, and the labels of it that are forgotten: none, marks, tags or both; its first words, at most."""

    corpus: str
    forget: str = ""
    max_words: int = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperRun:
    """One training and its tests; ``name`` is unique in its plan and ends in the seed.

    kind, fields: of the network, but its vocabulary. started: from the pre-trained encoder. learns: its text. alone:
    the share of its samples that are one sentence alone. longest: words of a sample. teacher: the run whose likeliest
    labels those forgotten take. teaches: what it labels for others; relabels: its teacher labels anew, as one that
    taught nobody yet must. keeps: its weights are kept. mean_of: it is not trained but the mean of these runs' weights.
    tests: (test, cut). streams: tests labelled as the worker labels streams. needs: runs that must be done before.
    """

    name: str
    kind: str
    seed: int
    learns: tuple[Learnt, ...]
    tests: tuple[tuple[str, str], ...]
    streams: tuple[str, ...] = ()
    max_words: int
    fields: Mapping[str, Any] = field(default_factory=dict)
    started: bool = False
    learning_rate: float = 1e-4
    max_pieces: int = 3072
    alone: float = 0.0
    longest: int = LONGEST_WORDS
    objective: Objective = _PLAIN
    teacher: str | None = None
    teaches: tuple[Learnt, ...] = ()
    relabels: bool = False
    keeps: bool = False
    mean_of: tuple[str, ...] = ()

    @property
    def windows(self) -> DoubleOverlap:
        """How it reads a test: in the paper's windows, or in ones as long as what it learnt from."""
        paper = DoubleOverlap()
        if self.longest >= paper.size:
            return paper
        return DoubleOverlap(size=self.longest, left=self.longest // 4, right=self.longest // 5)

    @property
    def needs(self) -> tuple[str, ...]:
        """The runs that must be done before."""
        return (*self.mean_of, *((self.teacher,) if self.teacher else ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """How much is trained, and from what. seeds: of each system; scale: of all words.

    encoder: the fields of the pre-trained encoder's shape; layers: how many of its layers are taken, from the lowest.
    learning_rate, max_pieces: of the runs that begin at it. width: of the networks that begin at random.
    """

    seeds: int
    scale: float
    encoder: Mapping[str, Any]
    layers: int
    learning_rate: float = 1e-4
    max_pieces: int = 3072
    width: int = 384

    @property
    def started(self) -> dict[str, Any]:
        """Return what the runs that begin at the encoder have in common."""
        return {
            "kind": "task-dependency",
            "started": True,
            "learning_rate": self.learning_rate,
            "max_pieces": self.max_pieces,
        }

    def encoded(self, *, masked: bool = False, order: str = "fs") -> dict[str, Any]:
        """Return a network's fields. masked: it sees nine words ahead at most, spread over the lower layers."""
        ahead = tuple(sum(k % self.layers == layer for k in range(_LOOK_AHEAD_WORDS)) for layer in range(self.layers))
        return dict(self.encoder) | {
            "look_ahead": ahead if masked else (UNLIMITED,) * self.layers,
            "dropout": 0.1,
            "order": order,
        }


Plan = Callable[[Mapping[str, float], Scope], list[PaperRun]]
"""From the tuning half's F1 of each run that is done to the runs that can be named."""


def joint_runs(_: Mapping[str, float], scope: Scope) -> list[PaperRun]:
    """Return the runs of tables 2 and 4, and those under the mask."""
    words = int(1_000_000 * scope.scale)
    talks = Learnt(corpus="ted", forget="tags", max_words=words)
    tags = Learnt(corpus="swda_marked", forget="marks", max_words=words)
    both = Learnt(corpus="swda_marked", max_words=words)
    marks = Learnt(corpus="swda_marked", forget="tags", max_words=words)
    switchboard = (("swda", "running"), ("swda", "sentences"))
    everything = (*((test, "running") for test in TALK_TESTS[:2]), *switchboard)
    single = {"marks of talks": (talks,), "marks of Switchboard": (marks,), "tags of Switchboard": (tags,)}
    trained = {"SEP": (talks, tags), "COMBINE": (both,)}
    runs: list[PaperRun] = []
    for seed in range(1, scope.seeds + 1):
        shared: dict[str, Any] = scope.started | {"seed": seed, "tests": everything, "alone": 0.5}
        runs += [
            PaperRun(
                name=f"single, {name}.{seed}", learns=learns, max_words=2 * words, fields=scope.encoded(), **shared
            )
            for name, learns in single.items()
        ]
        runs += [
            PaperRun(
                name=f"{order}, {name}.{seed}",
                learns=learns,
                max_words=2 * words * len(learns),
                fields=scope.encoded(order=order),
                **shared,
            )
            for name, learns in trained.items()
            for order in ("fs", "dp", "pd")
        ]
        runs += [
            PaperRun(
                name=f"{order}, masked.{seed}",
                learns=(both,),
                max_words=2 * words,
                fields=scope.encoded(order=order, masked=True),
                **shared | {"alone": 0.2, "streams": ("swda",) if seed == 1 else ()},
            )
            for order in ("fs", "pd")
        ]
    return runs


def self_training_runs(done: Mapping[str, float], scope: Scope) -> list[PaperRun]:
    """Return the runs of table 4 that can be named: alpha is chosen without smoothing, then the betas."""
    human = Learnt(corpus=HUMAN, forget="tags", max_words=int(800_000 * scope.scale))
    share = int(300_000 * scope.scale)
    speech = tuple(Learnt(corpus=name, forget="both", max_words=share) for name in SPEECH)
    tests = tuple((test, "running") for test in TALK_TESTS)
    shared: dict[str, Any] = scope.started | {"fields": scope.encoded(), "tests": tests}

    def student(name: str, seed: int, objective: Objective, teacher: str = "baseline") -> PaperRun:
        return PaperRun(
            name=f"{name}.{seed}",
            seed=seed,
            learns=(human, *speech),
            max_words=2 * human.max_words + 2 * share * len(SPEECH),
            objective=objective,
            teacher=f"{teacher}.{seed}",
            relabels=teacher != "baseline",
            keeps=True,
            **shared,
        )

    def settled(names: list[str]) -> str | None:
        """Return the best of some settings by the mean of its seeds on the tuning half, once all of them are done."""
        every = {name: [done.get(f"{name}.{seed}") for seed in range(1, scope.seeds + 1)] for name in names}
        known = {name: [f1 for f1 in all_f1 if f1 is not None] for name, all_f1 in every.items()}
        if any(len(all_f1) < scope.seeds for all_f1 in known.values()):
            return None
        return max(known, key=lambda name: mean(known[name]))

    numbers = range(1, scope.seeds + 1)
    words = 2 * human.max_words
    runs = [
        PaperRun(name=f"baseline.{k}", seed=k, learns=(human,), max_words=words, teaches=speech, **shared)
        for k in numbers
    ]
    runs += [
        PaperRun(name=f"baseline, as long.{k}", seed=k, learns=(human,), max_words=words + 2 * share * 4, **shared)
        for k in numbers
    ]
    tried = {f"alpha {alpha}": Objective(pseudo_weight=alpha) for alpha in ALPHAS}
    runs += [student(name, k, objective) for name, objective in tried.items() for k in numbers]
    if (best := settled(list(tried))) is None:
        return runs
    smoothed = {
        f"{best}, beta {human_beta} and {pseudo_beta}": replace(
            tried[best], smoothing=human_beta, pseudo_smoothing=pseudo_beta
        )
        for human_beta, pseudo_beta in BETAS
    }
    runs += [student(name, k, objective) for name, objective in smoothed.items() for k in numbers]
    if (chosen := settled([best, *smoothed])) is None:
        return runs
    again = [student(f"again, {chosen}", k, (tried | smoothed)[chosen], chosen) for k in numbers]
    members = tuple(f"{chosen}.{k}" for k in numbers)
    mean_run = replace(student(f"mean, {chosen}", 1, _PLAIN), mean_of=members, teacher=None, keeps=False, learns=())
    return [*runs, mean_run, *again]


def sapr_runs(_: Mapping[str, float], scope: Scope) -> list[PaperRun]:
    """Return the runs of tables I and II."""
    words = int(2_000_000 * scope.scale)
    talks = Learnt(corpus="ted", forget="tags", max_words=words)
    marks = tuple((test, cut) for test in TALK_TESTS[:2] for cut in ("running", "sentences"))
    joint = tuple((test, "running") for test in ("joint novels", "joint talk"))
    books = (Learnt(corpus="joint_novels", max_words=words), Learnt(corpus="joint_talk", max_words=words))
    rates = {"sapr": 6e-4, "word-cnn": 1e-3, "t-brnn": 1e-3}
    shapes: dict[str, dict[str, Any]] = {
        "sapr": {"width": scope.width, "heads": scope.width // 64, "inner_width": 4 * scope.width, "dropout": 0.1},
        "word-cnn": {"width": scope.width, "dropout": 0.2},
        "t-brnn": {"width": scope.width, "hidden": scope.width, "dropout": 0.2},
    }
    runs: list[PaperRun] = []
    for seed in range(1, scope.seeds + 1):
        for kind, rate in rates.items():
            shared: dict[str, Any] = {"kind": kind, "seed": seed, "learning_rate": rate, "max_pieces": scope.max_pieces}
            if kind == "sapr":
                shared["longest"] = _SAPR_WORDS
            runs += [
                PaperRun(
                    name=f"{kind}, {way}.{seed}",
                    learns=(talks,),
                    tests=marks,
                    max_words=6 * words,
                    alone=alone,
                    fields=shapes[kind],
                    **shared,
                )
                for way, alone in (("sentences", 1.0), ("running", 0.0))
            ]
            if kind != "t-brnn":
                runs.append(
                    PaperRun(
                        name=f"{kind}, joint.{seed}",
                        learns=books,
                        tests=joint,
                        max_words=6 * words,
                        fields=shapes[kind],
                        **shared,
                    )
                )
    return runs


PLANS: dict[str, Plan] = {"joint": joint_runs, "self-training": self_training_runs, "sapr": sapr_runs}
