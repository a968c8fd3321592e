"""What any page names exists: files, tests, settings, variables, metrics, commands; a stale name fails here."""

from __future__ import annotations

import re
from pathlib import Path

from tests.harness.places import ROOT
from worker.settings.tree import open_settings
from worker.telemetry.metric_table import METRICS

PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "deploy/README.md", ROOT / "models/README.md"]
)
FOLDERS = "tests|worker|schemas|models|deploy|docs|bench|requirements"
SETTINGS = {leaf.path for leaf in open_settings()}
VARIABLES = {leaf.variable for leaf in open_settings()} | {"CAESURA_CONFIG"}
OTHER_VARIABLES = {
    "CAESURA_CORPORA": "where training finds its corpora",
    "CAESURA_DEPLOY_TOOLS": "where the tests of the deployment find helm and its like",
}

TEXTS = {str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in PAGES}


def test_nobody_is_sent_to_an_index_for_a_package_of_this_name() -> None:
    """No index has this project, and one has another by its name."""
    sources = [file for folder in ("worker", "models", "caesura") for file in (ROOT / folder).rglob("*.py")]
    notebooks = (ROOT / "docs").rglob("*.ipynb")
    texts = TEXTS | {str(file): file.read_text(encoding="utf-8") for file in (*sources, *notebooks)}
    assert [name for name, text in texts.items() if re.search(r"install ['\"]?caesura", text)] == []


def test_files_and_tests_that_are_named_are_there() -> None:
    missing = []
    for page, text in TEXTS.items():
        for file, test in re.findall(rf"`((?:{FOLDERS})/[\w./*-]*\w\.\w+)(?:::(test_\w+))?`", text):
            found = list(ROOT.glob(file))
            if not found or (test and f"def {test}(" not in found[0].read_text(encoding="utf-8")):
                missing.append(f"{page}: {file} {test}")
    assert missing == []


def test_settings_and_variables_that_are_named_can_be_set() -> None:
    unknown = {}
    for page, text in TEXTS.items():
        settings = set(re.findall(r"`(?:settings\.)?((?:decoding|bounds|kafka|redis|serve)\.[a-z_]+)[`=]", text))
        settings |= set(re.findall(r"`((?:worker\.(?!core|app|cli|ports|config|errors))[a-z_]+)[`=]", text))
        variables = set(re.findall(r"CAESURA_[A-Z_]+[A-Z]", text))
        unknown[page] = (settings - SETTINGS) | (variables - VARIABLES - set(OTHER_VARIABLES))
    assert {page: names for page, names in unknown.items() if names} == {}


def test_metrics_that_are_named_are_served() -> None:
    served = {f"{metric.name}{part}" for metric in METRICS for part in ("", "_bucket", "_sum", "_count")}
    unknown = {page: set(re.findall(r"`(caesura_[a-z_]+)", text)) - served for page, text in TEXTS.items()}
    assert {page: names for page, names in unknown.items() if names} == {}


def _cited(file: Path) -> set[tuple[str, str]]:
    """Return the pages that a source names, each with the heading that it names there."""
    text = re.sub(r"\s+", " ", file.read_text(encoding="utf-8"))
    return set(re.findall(r"(?<![\w/.-])(docs/[\w/-]+\.md)(?:, \*([^*]+)\*)?", text))


def _has(page: Path, heading: str) -> bool:
    return page.is_file() and (not heading or f"# {heading}\n" in page.read_text(encoding="utf-8"))


def test_every_page_that_a_source_cites_is_there_with_its_heading() -> None:
    sources = [
        file for folder in ("schemas", "worker", "models", "tests", "bench") for file in (ROOT / folder).rglob("*.py")
    ]
    cited = {place for file in sources for place in _cited(file)}
    assert ("docs/design.md", "Silence") in cited
    missing = [(page, heading) for page, heading in sorted(cited) if not _has(ROOT / page, heading)]
    assert missing == []


def test_no_source_cites_a_design_that_is_not_here() -> None:
    citing = [file for folder in ("schemas", "worker", "models") for file in (ROOT / folder).rglob("*.py")]
    assert [str(file) for file in citing if re.search(r"\bDESIGN\b", file.read_text(encoding="utf-8"))] == []


def test_every_decision_stands_in_their_index_as_it_is_called() -> None:
    folder = ROOT / "docs" / "adr"
    heads = {file.name: file.read_text(encoding="utf-8").split("\n", 1)[0] for file in sorted(folder.glob("0*.md"))}
    listed = re.findall(r"^- \[(\d{4})\]\(([\w.-]+)\): (.+)$", TEXTS["docs/adr/README.md"], re.MULTILINE)
    assert {name: f"# {number}: {title}" for number, name, title in listed} == heads
