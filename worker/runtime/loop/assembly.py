"""Puts a worker together from its parts; the adapters are chosen elsewhere (``app``)."""

from __future__ import annotations

from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.language.words import SegmenterFactory
from caesura.worker.core.session.batching import BatchLimits
from caesura.worker.runtime.loop.labelling import Labelling
from caesura.worker.runtime.loop.loop import Worker
from caesura.worker.runtime.loop.partition_loader import PartitionLoader
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import RuntimeSettings


def assemble(
    parts: RuntimeAdapters,
    *,
    settings: RuntimeSettings,
    rules: DecodingRules,
    segmenters: SegmenterFactory,
) -> Worker:
    """Return a worker that is ready to ``start``. The engine must be warm."""
    labelling = Labelling(
        engine=parts.engine,
        clock=parts.clock,
        observer=parts.observer,
        limits=BatchLimits(max_sessions=settings.max_batch_sessions, max_words=settings.max_batch_words),
    )
    loader = PartitionLoader(parts=parts, settings=settings, rules=rules, segmenters=segmenters, labelling=labelling)
    return Worker(parts, settings, loader=loader, labelling=labelling)
