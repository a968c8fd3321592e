"""Full-Transformer: the CT-Transformer's layers without its mask, so that every word sees the whole buffer.

The counterpart of Chen et al. 2020, section 4.3. It is the same network with a look-ahead that goes past the end of any
buffer, which leaves one thing masked: padding. So its weights fit a CT-Transformer of the same shape and the other way
round: a pre-trained encoder is fine-tuned here as a full-context teacher, and may then be put under the mask.
"""

from __future__ import annotations

from dataclasses import replace

from caesura.models.networks.ct_transformer import CTConfig, CTTransformer

UNLIMITED = 500_000
"""A look-ahead past any buffer's end that still does not reach ``PADDING_WORD``."""


class FullTransformer(CTTransformer):
    """A CT-Transformer whose every layer sees every word; of ``config.look_ahead`` only the length counts."""

    def __init__(self, config: CTConfig) -> None:
        """Build the network with small random weights."""
        super().__init__(replace(config, look_ahead=(UNLIMITED,) * len(config.look_ahead), look_back=None))
