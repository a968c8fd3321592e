"""The regression list through the shipped models, each sentence a session of ``core``, and what came out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from caesura.models.decoding.labelling_runs import label_streams
from caesura.models.evaluation.regression.cases import FLUENT, Case, judge, read_cases
from caesura.models.evaluation.shares import Share
from caesura.schemas.labels import Disfluency
from caesura.worker.ports.engine import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOutcome:
    """What a model made of one case. deleted: how many units it would take away; faults: what is wrong, in words."""

    case: Case
    deleted: int
    faults: tuple[str, ...]


def run_list(engine: Engine, language: str) -> list[ListOutcome]:
    """Return the outcome of every case of a language."""
    cases = read_cases(language)
    labelled = label_streams(engine, [case.units for case in cases], language=language)
    return [
        ListOutcome(case=case, deleted=sum(tag != Disfluency.O for tag in labels[1]), faults=tuple(judge(case, labels)))
        for case, labels in zip(cases, labelled, strict=True)
    ]


def report(outcomes: Sequence[ListOutcome]) -> str:
    """Return what failed and why, how much of each section held, and the share of false deletions."""
    lines: list[str] = []
    sections: dict[tuple[str, str], list[ListOutcome]] = {}
    for outcome in outcomes:
        sections.setdefault((outcome.case.language, outcome.case.section), []).append(outcome)
        if outcome.faults:
            lines += [f"{outcome.case.language}, {outcome.case.section}: {outcome.case.line}"]
            lines += [f"    {fault}" for fault in outcome.faults]
    lines += ["", "| language | section | lines | hold |", "|---|---|---|---|"]
    for (language, section), some in sections.items():
        held = sum(not outcome.faults for outcome in some)
        lines.append(f"| {language} | {section} | {len(some)} | {held} |")
    lines += [
        "",
        "| language | fluent sentences touched, per cent | words or characters deleted, per cent |",
        "|---|---|---|",
    ]
    for (language, section), some in sections.items():
        if section == FLUENT:
            touched = Share(hits=sum(outcome.deleted > 0 for outcome in some), total=len(some))
            deleted = Share(hits=sum(o.deleted for o in some), total=sum(len(o.case.units) for o in some))
            lines.append(f"| {language} | {touched} | {deleted} |")
    return "\n".join(lines)
