"""A trained network to a model folder: weights in ONNX, vocabulary, manifest."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import onnx

from caesura.models.export.onnx_graph import build_graph
from caesura.models.networks.ct_transformer import CTTransformer
from caesura.models.networks.pieces import LEADING, MAX_PIECES, UNKNOWN_PIECE
from caesura.schemas.labels import Casing, Disfluency, Punctuation
from caesura.schemas.model_manifest import ModelFile, ModelManifest, WordPieceSettings, manifest_version
from caesura.worker.core.language.dictionary import dictionary_sha256
from caesura.worker.inference.model.wordpiece import ACCENTED


def write_manifest(folder: Path, manifest: ModelManifest) -> None:
    """Write the manifest of a model's folder, as JSON that people read."""
    (folder / "manifest.json").write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")


_VOCABULARY = "vocabulary.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """What a manifest says beyond the network's shape.

    also: further languages that it labels. dictionary: its words are cut by the packaged dictionary. active: new
    buffers of its languages go to it.
    """

    id: str
    version: str
    language: str
    licence: str
    trained_on: tuple[str, ...]
    also: tuple[str, ...] = ()
    dictionary: bool = False
    active: bool = True


def export(
    network: CTTransformer, vocabulary: list[str], folder: Path, card: ModelCard, *, int8: bool
) -> ModelManifest:
    """Write a model folder, in place of an older one, and return its manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {
        name: tensor.detach().to("cpu").float().numpy().astype(np.float32)
        for name, tensor in network.state_dict().items()
    }
    weights_name = "weights.int8.onnx" if int8 else "weights.fp32.onnx"
    onnx.save(build_graph(network.config, weights, int8=int8), str(folder / weights_name))
    (folder / _VOCABULARY).write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    config = network.config
    manifest = ModelManifest(
        manifest=manifest_version(
            look_back=config.look_back,
            closing=config.closing,
            accented=ACCENTED in vocabulary,
            also=bool(card.also),
        ),
        id=card.id,
        version=card.version,
        language=card.language,
        also=card.also,
        active=card.active,
        network="ct_transformer",
        weights=weights_name,
        files=tuple(_file(folder / name) for name in (weights_name, _VOCABULARY)),
        look_ahead=config.look_ahead,
        positions=config.positions,
        punctuation=tuple(Punctuation(k).published for k in range(config.punctuation_classes)),
        disfluency=tuple(Disfluency(k).published for k in range(config.disfluency_classes)),
        wordpiece=WordPieceSettings(
            vocabulary=_VOCABULARY, max_pieces=MAX_PIECES, leading=LEADING, unknown=UNKNOWN_PIECE
        ),
        licence=card.licence,
        trained_on=card.trained_on,
        dictionary_sha256=dictionary_sha256() if card.dictionary else None,
        casing=tuple(Casing(k).published for k in range(config.casing_classes)),
        look_back=config.look_back,
        closing=config.closing,
    )
    write_manifest(folder, manifest)
    return manifest


def _file(path: Path) -> ModelFile:
    content = path.read_bytes()
    return ModelFile(name=path.name, bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
