"""The engine on ONNX Runtime: buffers of many sessions in, a label of each kind a wanted word out.

A CT-Transformer runs as a stream (``streamed_network``), another network over whole buffers (``full_network``).
Threads come from the cgroup's quota. Scores that are not finite, or of the wrong shape, are an error, never a label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from typing_extensions import override

from caesura.schemas.labels import Labels
from caesura.worker.adapters.onnx.cpu_quota import threads_allowed
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.errors import EngineError, FatalError
from caesura.worker.inference.attention.compiled_attention import COMPILED
from caesura.worker.inference.kv_cache.kv_cache import SessionCache
from caesura.worker.inference.model.heads import Heads, Scores
from caesura.worker.inference.model.model_folder import StoredModel, read_models_folder
from caesura.worker.inference.network.compiled_kernels import CompiledKernels
from caesura.worker.inference.network.full_network import FullNetwork
from caesura.worker.inference.network.saturation import LARGEST_EXACT
from caesura.worker.inference.network.streamed_network import StreamedNetwork
from caesura.worker.ports.engine import Engine, EngineModel, EngineWork

_STREAMED = "ct_transformer"
_MAX_BATCH_PIECES = 4096
_MAX_PASS_ROWS = 1024
_MAX_KEPT_BYTES = 512 * 2**20
_COMPILED = CompiledKernels.ALL if COMPILED else CompiledKernels.NONE
_WARM_UP_WORDS = ("so", "this", "is", "a", "warm", "up")


class OnnxEngine(Engine):
    """``caesura.worker.ports.engine.Engine`` over the models of a folder. Not thread-safe: one loop owns it."""

    def __init__(  # noqa: PLR0913 - an engine's options
        self,
        models_folder: Path,
        *,
        active: Sequence[str] = (),
        threads: int | None = None,
        streams: bool = True,
        compiled: CompiledKernels = _COMPILED,
        max_kept_bytes: int = _MAX_KEPT_BYTES,
        max_batch_pieces: int = _MAX_BATCH_PIECES,
        max_pass_rows: int = _MAX_PASS_ROWS,
    ) -> None:
        """Verify and load every model of ``models_folder``; FatalError where one cannot be used.

        active: models that take new buffers of their language, whatever the manifests say, by id or name. threads: for
        one inference; None takes what the cgroup's quota allows. streams: False runs every model over whole buffers.
        compiled: what may be computed by what was compiled at installation, where it was.
        max_kept_bytes: of rows kept between steps. max_batch_pieces, max_pass_rows: bounds of one run over whole
        buffers, and of one pass of steps.
        """
        chosen = threads if threads is not None else threads_allowed()
        self._cache = SessionCache(max_kept_bytes)
        self._heads: dict[str, Heads] = {}
        self._networks: dict[str, FullNetwork | StreamedNetwork] = {}
        self._models: list[EngineModel] = []
        for stored in read_models_folder(models_folder, active=active):
            manifest = stored.manifest
            try:
                heads = self._heads[manifest.name] = Heads(manifest)
                masked = manifest.network == _STREAMED
                if streams and masked:
                    network = StreamedNetwork(stored, heads, self._cache, chosen, max_pass_rows, compiled=compiled)
                    self._networks[manifest.name] = network
                else:
                    full = FullNetwork(stored, heads, chosen, max_batch_pieces, halves=masked)
                    self._networks[manifest.name] = full
            except KeyError as error:
                raise FatalError(f"model {manifest.name}: its manifest or vocabulary has no {error}") from error
            self._models += _served(stored)
        self.threads = chosen

    def compiled_kernels(self, model: str) -> tuple[bool, bool] | None:
        """Tell whether a model's attention, and its products, are compiled; None: it runs over whole buffers."""
        network = self._networks[model]
        return (network.compiled, network.int8_matmul) if isinstance(network, StreamedNetwork) else None

    @property
    def doubts(self) -> Mapping[str, str]:
        """Why the labels of some models on this processor are not what their weights say, by the model's name."""
        return {
            model: f"its weights {network.saturated} in int8 pass over {LARGEST_EXACT}, and ONNX Runtime multiplies "
            f"such ones wrongly on this processor, which has no VNNI: export it with weights of -{LARGEST_EXACT} to "
            f"{LARGEST_EXACT} (ONNX Runtime's quantiser calls that reduce_range), or run it elsewhere"
            for model, network in self._networks.items()
            if isinstance(network, FullNetwork) and network.saturated is not None
        }

    @property
    @override
    def models(self) -> Sequence[EngineModel]:
        return tuple(self._models)

    @property
    @override
    def work(self) -> EngineWork:
        networks = self._networks.values()
        return EngineWork(
            layer_rows=sum(network.layer_rows for network in networks),
            begun_buffers=sum(network.begun for network in networks if isinstance(network, StreamedNetwork)),
            evicted_sessions=self._cache.evicted,
            kept_sessions=len(self._cache),
            kept_bytes=self._cache.nbytes,
        )

    @override
    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        """Label each request, in their order; EngineError where an inference fails, FatalError for an unknown model."""
        return self.labels(requests, self.score(requests))

    def labels(self, requests: Sequence[LabelRequest], scored: Sequence[Scores]) -> list[Labels]:
        """Return the labels that the scores of each request say."""
        answers: dict[int, Labels] = {}
        for model_id, places in _places(requests).items():
            asked = [requests[place] for place in places]
            labels = self._heads[model_id].labels([scored[place] for place in places], asked)
            answers.update(zip(places, labels, strict=True))
        return [answers[place] for place in range(len(requests))]

    def score(self, requests: Sequence[LabelRequest]) -> list[Scores]:
        """Return the scores (W, C) behind each request's labels, for those who compare; raises as ``label`` does."""
        answers: list[Scores] = [[]] * len(requests)
        for model_id, places in _places(requests).items():
            network = self._networks.get(model_id)
            if network is None:
                raise FatalError(f"no model {model_id} is loaded; there are {', '.join(sorted(self._networks))}")
            for place, scores in network.score([(place, requests[place]) for place in places]):
                answers[place] = scores
        return answers

    @override
    def forget(self, session: str) -> None:
        self._cache.forget(session)

    @override
    def warm_up(self) -> None:
        for name in self._networks:
            requests = [
                LabelRequest(session=f"warm-up-{n}", model_id=name, buffer_start=0, words=_WARM_UP_WORDS * n)
                for n in (1, 4)
            ]
            try:
                self.label(requests)
            except EngineError as error:
                raise FatalError(f"model {name} cannot run: {error}") from error
            for request in requests:
                self.forget(request.session)


def _places(requests: Sequence[LabelRequest]) -> dict[str, list[int]]:
    """Return which of the requests each model is asked."""
    places: dict[str, list[int]] = {}
    for place, request in enumerate(requests):
        places.setdefault(request.model_id, []).append(place)
    return places


def _served(stored: StoredModel) -> list[EngineModel]:
    """Return a model once a language that it labels."""
    manifest = stored.manifest
    return [
        EngineModel(
            name=manifest.name,
            language=language,
            active=manifest.active,
            look_ahead_words=manifest.look_ahead_words,
        )
        for language in manifest.languages
    ]
