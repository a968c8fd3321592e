"""Our side's network: the shipped one's lowest layers, as many as FunASR's side has.

Which weights it has tells nothing, since a look-up from the word decides each label; how many it has is what counts.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from caesura.models.export.folder import ModelCard, export
from caesura.models.export.starting_model import starting_model
from caesura.models.export.stored_network import read_network
from caesura.models.networks.ct_transformer import CTTransformer


def export_lowest(models: Path, layers: int, folder: Path) -> None:
    """Write a models folder with the lowest layers of the active English model alone, in int8."""
    stored = starting_model(models, "en")
    whole = read_network(stored)
    network = CTTransformer(replace(whole.config, look_ahead=whole.config.look_ahead[:layers]))
    kept = network.state_dict().keys()
    network.load_state_dict({name: weights for name, weights in whole.state_dict().items() if name in kept})
    card = ModelCard(
        id=f"en-lowest-{layers}",
        version=stored.manifest.version,
        language="en",
        licence=stored.manifest.licence,
        trained_on=stored.manifest.trained_on,
    )
    export(network, stored.vocabulary(), folder / "en", card, int8=True)
