"""``caesura check``: tests whether settings, brokers, topics, Redis and models can keep the promises, with reasons."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Annotated

import typer

from caesura.worker.adapters.kafka.topics import KafkaTopics
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.checks.findings import Finding, FindingLevel
from caesura.worker.checks.kafka import check_brokers, denied
from caesura.worker.checks.redis import check_redis
from caesura.worker.checks.topic_plan import judge, retention_of, wanted_topics
from caesura.worker.commands.options import ConfigOption, SetOption, origin_of
from caesura.worker.commands.terminal import echo
from caesura.worker.errors import CaesuraError
from caesura.worker.inference.network.int8_matmul import KINDS
from caesura.worker.runtime.settings.settings import RuntimeSettings
from caesura.worker.settings.tree import Settings, load_settings, models_folder, settings_shown

_SIGN = {FindingLevel.GOOD: "good", FindingLevel.WARNING: "warn", FindingLevel.BAD: "BAD"}
_COLOUR = {FindingLevel.GOOD: "green", FindingLevel.WARNING: "yellow", FindingLevel.BAD: "red"}


def check(
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and faults.")] = False,
    topics_follow: Annotated[
        bool, typer.Option("--topics-follow", help="Accept missing topics, which are made after this check.")
    ] = False,
) -> None:
    """Check settings, brokers, topics, Redis and models.

    It changes nothing. Run it before a worker or beside one. Exit status 1: a promise cannot be kept.
    """
    origin = origin_of(config, assignments)
    settings = load_settings(origin)
    given = [one for one in settings_shown(settings, origin) if one.source]
    told = ", ".join(f"{one.leaf.path}={one.value}" for one in given) or "all at their defaults"
    bad = 0
    for finding in [
        Finding(subject="settings", verdict=FindingLevel.GOOD, reason=told),
        *_findings(settings, topics_follow),
    ]:
        bad += finding.verdict is FindingLevel.BAD
        if not (quiet and finding.verdict is FindingLevel.GOOD):
            sign, colour = f"{_SIGN[finding.verdict]:9}", _COLOUR[finding.verdict]
            echo(f"{finding.subject}: {finding.reason}", sign=sign, colour=colour)
    if bad:
        raise typer.Exit(1)


def _findings(settings: Settings, topics_follow: bool) -> Iterator[Finding]:
    admin = KafkaTopics(settings.kafka)
    brokers = check_brokers(admin, settings.kafka)
    yield from brokers
    if not any(finding.subject == "brokers" and finding.verdict is FindingLevel.BAD for finding in brokers):
        yield from _guarded("topics", _topics(admin, settings, topics_follow))
    for finding in check_redis(settings.redis, deployment=settings.worker.deployment):
        yield Finding(subject=f"redis {finding.subject}", verdict=finding.verdict, reason=finding.reason)
    yield from _guarded("models", _models(settings.worker))


def _guarded(subject: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings; an error of ours becomes one."""
    try:
        yield from findings
    except CaesuraError as error:
        yield Finding(subject=subject, verdict=FindingLevel.BAD, reason=str(error))


def _topics(admin: KafkaTopics, settings: Settings, topics_follow: bool) -> Iterator[Finding]:
    names = [topic.name for topic in wanted_topics(settings.worker, partitions=1)]
    found = admin.find(names)
    there = found.get(settings.worker.input_topic)
    wanted = wanted_topics(settings.worker, partitions=there.partitions if there else 1)
    if there is not None:
        limit = int(there.options.get("max.message.bytes", "0"))
        retention_ms = retention_of(there, otherwise_ms=-1)
        wanted = wanted_topics(
            settings.worker, partitions=there.partitions, retention_ms=retention_ms, max_event_bytes=limit
        )
    for topic in wanted:
        follows = topics_follow and topic.name not in found
        for finding in judge(topic, found.get(topic.name)):
            yield replace(finding, verdict=FindingLevel.WARNING) if follows else finding
    reads, writes = settings.worker.read_topics, settings.worker.output_topics
    yield from denied(admin.forbidden(list(found)), reads=reads, writes=writes)


def _models(worker: RuntimeSettings) -> Iterator[Finding]:
    engine = OnnxEngine(models_folder(worker), active=worker.active_models)
    engine.warm_up()
    for model in engine.models:
        state = "active" if model.active else "loaded, not active"
        reason = (
            f"{model.language}, {state}, {model.look_ahead_words} words of look-ahead; {engine.threads} threads of "
            f"{os.cpu_count()} processors; {_computed_by(engine.compiled_kernels(model.name))}"
        )
        yield Finding(subject=f"model {model.name}", verdict=FindingLevel.GOOD, reason=reason)
    for name, doubt in engine.doubts.items():
        yield Finding(subject=f"model {name}", verdict=FindingLevel.WARNING, reason=doubt)


def _computed_by(compiled: tuple[bool, bool] | None) -> str:
    """Return what computes a model. compiled: its attention, its products; None: neither, for it is no stream."""
    if compiled is None:
        return "whole buffers by ONNX Runtime: its network cannot be run as a stream"
    attention = "compiled" if compiled[0] else "by NumPy, which is slower: nothing was compiled at installation"
    wanted = "AVX2, a compiler at installation, int8 weights of 63 at most"
    runtime = f"by ONNX Runtime, which is slower: compiled ones want {wanted}"
    return f"attention {attention}; products {f'compiled for {KINDS[0]}' if compiled[1] else runtime}"
