"""The group protocols that a test is run under: one for every change, both in ``make test-long``."""

from __future__ import annotations

import pytest

__all__ = ["GROUP_PROTOCOLS"]

GROUP_PROTOCOLS = ["classic", pytest.param("consumer", marks=pytest.mark.long)]
"""Values of ``group_protocol`` for tests of what does not depend on it; those of a seam step run under both always."""
