"""Where the repository's files lie. Workers in processes of their own import this, so it imports little."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["CHART", "DEPLOY", "DOCS", "ROOT", "SHIPPED", "TOOLS"]

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
DOCS = ROOT / "docs"
SHIPPED = ROOT / "models" / "shipped"
CHART = DEPLOY / "chart"
TOOLS = Path(os.environ.get("CAESURA_DEPLOY_TOOLS", ROOT / "build" / "deploy" / "bin"))
