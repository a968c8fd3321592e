"""Where the repository's files lie. Workers in processes of their own import this, so it imports little."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
DOCS = ROOT / "docs"
SHIPPED = ROOT / "models" / "shipped"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("*/README.md"), *SHIPPED.glob("*/MODEL_CARD.md")])
"""What a reader of the repository finds, model cards too."""
CHART = DEPLOY / "chart"
TOOLS = Path(os.environ.get("CAESURA_DEPLOY_TOOLS", ROOT / "build" / "deploy" / "bin"))
