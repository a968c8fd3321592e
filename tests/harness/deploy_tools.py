"""The tools that check what is deployed; ``make test-deploy`` builds them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.harness.places import TOOLS


def tool(name: str) -> Path:
    """Return a tool that was built; without it the test is left to ``make test-deploy``, which has them all.

    ``CAESURA_DEPLOY_TOOLS`` names the folder and says that they must be there. Where it is not set nothing is taken
    from the folder that they are built in: somebody may be building there.
    """
    if "CAESURA_DEPLOY_TOOLS" in os.environ:
        path = TOOLS / name
        if not path.exists():
            pytest.fail(f"{path} is missing: `make test-deploy` builds it", pytrace=False)
        return path
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not at hand: `make test-deploy` builds it and runs this")
    return Path(found)
