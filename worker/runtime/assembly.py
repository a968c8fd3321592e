"""Puts a worker together from its parts; the adapters are chosen elsewhere (``worker.app``)."""

from __future__ import annotations

from worker.core.batching import BatchLimits
from worker.core.rules import DecodingRules
from worker.core.words import SegmenterFactory
from worker.runtime.labelling import Labelling
from worker.runtime.loop import Worker
from worker.runtime.partition_loader import PartitionLoader
from worker.runtime.parts import RuntimeParts
from worker.runtime.settings import RuntimeSettings

__all__ = ["assemble"]


def assemble(
    parts: RuntimeParts,
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
