"""The one tree of settings: read once, from environment (``CAESURA_...``), file (TOML) and flags, then frozen.

A name is ``section.field``: ``CAESURA_WORKER_COMMIT_INTERVAL_MS`` in the environment, ``commit_interval_ms`` under
``[worker]`` in the file, ``--set worker.commit_interval_ms=50`` as a flag. ``docs/settings.md`` lists them all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.redis.settings import RedisSettings
from caesura.worker.core.language.rules import DecodingRules, OptionBounds
from caesura.worker.errors import FatalError
from caesura.worker.inference.model.model_folder import shipped_models
from caesura.worker.runtime.settings.settings import RuntimeSettings
from caesura.worker.settings.catalogue import Leaf, leaves, shown
from caesura.worker.settings.serving import ServeSettings
from caesura.worker.settings.sources import Given, build, gather

MUST_BE_SET = "(must be set)"
_STANDS_IN = "unset"
"""A value that every setting without a default would take, where it is only to be shown that it is missing."""
_LEAST_STILL_S = 30.0
_BESIDE_INFERENCE_S = 20.0
_CALLS = 3
_DERIVED = {
    "kafka.group_id": "the group is the deployment (worker.deployment)",
    "kafka.client_id": "it is made of worker.deployment and worker.ordinal",
    "decoding.routes": "they are the targets of worker.routes",
    "decoding.bounds": "it has a section of its own, bounds",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSettings:
    """What decoding alone needs, without broker and store."""

    worker: RuntimeSettings = field(default_factory=RuntimeSettings)
    decoding: DecodingRules = field(default_factory=DecodingRules)
    bounds: OptionBounds = field(default_factory=OptionBounds)
    serve: ServeSettings = field(default_factory=ServeSettings)

    def __post_init__(self) -> None:
        self.worker.require_names(self.serve.redact)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSettings(LocalSettings):
    """What a command needs that speaks to Kafka, not to Redis."""

    kafka: KafkaSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(BrokerSettings):
    """Everything that can be told to Caesura, by section."""

    redis: RedisSettings = field(default_factory=RedisSettings)

    @property
    def max_still_s(self) -> float:
        """How long the worker's loop may stand still before it counts as dead: 30 s, longer where a wait may be.

        That is an inference's deadline and 20 s, or three calls without an answer (a turn may have so many).
        """
        worker, redis = self.worker, self.redis
        call_s = max(worker.commit_timeout_s, worker.claim_timeout_s, redis.connect_timeout_s + redis.timeout_s)
        return max(_LEAST_STILL_S, worker.inference_deadline_ms / 1000.0 + _BESIDE_INFERENCE_S, _CALLS * call_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingSources:
    """Where settings are read from: flags win over the environment, the environment over the file.

    file: TOML; where None, the one that ``CAESURA_CONFIG`` names, if any. flags: ``section.field`` to text.
    """

    environ: Mapping[str, str]
    file: Path | None = None
    flags: Mapping[str, str] = field(default_factory=dict)

    def given(self) -> dict[str, Given]:
        """Return what was given, by path. Raises FatalError with all unknown names."""
        return gather(Settings, environ=self.environ, file=self.file, flags=self.flags, closed=_DERIVED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingShown:
    """A setting as people may see it: no secret is in it. ``source`` is empty for a default."""

    leaf: Leaf
    value: str
    source: str


_Tree = TypeVar("_Tree", bound=LocalSettings)


def load_settings(origin: SettingSources) -> Settings:
    """Read and check all settings. Raises FatalError that names all that is wrong at once."""
    return _read(Settings, origin)


def load_broker_settings(origin: SettingSources) -> BrokerSettings:
    """Read what Kafka needs; every name is checked all the same. Raises FatalError."""
    return _read(BrokerSettings, origin)


def load_local_settings(origin: SettingSources) -> LocalSettings:
    """Read what decoding alone needs; every name is checked all the same. Raises FatalError."""
    return _read(LocalSettings, origin)


def models_folder(worker: RuntimeSettings) -> Path:
    """Return the folder of the models: the one set, else the ones shipped with the package (FatalError: none)."""
    if (folder := models_folder_if_any(worker)) is not None:
        return folder
    raise FatalError("no models are shipped with this installation: set worker.models_dir")


def models_folder_if_any(worker: RuntimeSettings) -> Path | None:
    """Return the folder of the models as ``models_folder`` does; None where there is none."""
    return Path(worker.models_dir) if worker.models_dir else shipped_models()


def open_settings() -> list[Leaf]:
    """Return every setting that can be set."""
    return [leaf for leaf in leaves(Settings) if leaf.path not in _DERIVED]


def load_settings_to_show(origin: SettingSources) -> list[SettingShown]:
    """Return every setting as ``settings_shown`` does, one without default that is missing too. Raises FatalError."""
    given = origin.given()
    missing = {leaf.path: _STANDS_IN for leaf in open_settings() if leaf.required and leaf.path not in given}
    whole = dataclasses.replace(origin, flags={**origin.flags, **missing})
    shown_all = settings_shown(load_settings(whole), whole)
    return [
        dataclasses.replace(one, value=MUST_BE_SET, source="") if one.leaf.path in missing else one for one in shown_all
    ]


def settings_shown(settings: Settings, origin: SettingSources) -> list[SettingShown]:
    """Return every setting with its value for people and where it came from."""
    given = origin.given()
    return [
        SettingShown(
            leaf=leaf,
            value=shown(leaf, getattr(getattr(settings, leaf.section), leaf.name)),
            source=given[leaf.path].source if leaf.path in given else "",
        )
        for leaf in open_settings()
    ]


def _read(tree: type[_Tree], origin: SettingSources) -> _Tree:
    """Build a tree and fill in what is derived: a fact has one name to set it by."""
    settings = build(tree, origin.given())
    worker = settings.worker
    targets = frozenset(route.target for route in worker.routes)
    decoding = dataclasses.replace(settings.decoding, bounds=settings.bounds, routes=targets)
    settings = dataclasses.replace(settings, decoding=decoding)
    if isinstance(settings, BrokerSettings):
        kafka = dataclasses.replace(settings.kafka, group_id=worker.group, client_id=worker.transactional_id)
        settings = dataclasses.replace(settings, kafka=kafka)
    return settings
