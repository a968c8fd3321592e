"""What any page names exists: files, tests, settings, variables, metrics, commands; a stale name fails here."""

from __future__ import annotations

import re
from pathlib import Path

from caesura.worker.inference.model.model_folder import read_models_folder
from caesura.worker.settings.tree import open_settings
from caesura.worker.telemetry.metric_table import METRICS
from tests.harness.places import PAGES, ROOT, SHIPPED

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


def test_the_notice_and_the_models_page_name_the_models_that_ship() -> None:
    shipped = [stored.manifest for stored in read_models_folder(SHIPPED)]
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    assert [model.id for model in shipped if model.id not in notice] == []
    named = re.findall(r"`(\w\w-ct-[\dx]+@[\d.]+)`", TEXTS["models/README.md"])
    assert sorted(named) == sorted(model.name for model in shipped)


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


def _sources() -> dict[str, str]:
    """Return the text of every source and YAML file of ours, its lines and comments' signs run together."""
    folders = ("caesura", "schemas", "worker", "models", "deploy", "tests", "bench")
    files = [file for folder in folders for end in ("py", "yaml", "yml") for file in (ROOT / folder).rglob(f"*.{end}")]
    return {
        str(file.relative_to(ROOT)): re.sub(r"\s+(?:#\s+)?", " ", file.read_text(encoding="utf-8")) for file in files
    }


def _cited(text: str) -> set[tuple[str, str]]:
    """Return the pages that a source names, each with the heading that it names there."""
    return set(re.findall(r"(?<![\w/.-])(docs/[\w/-]+\.md)(?:, \*([^*]+)\*)?", text))


def _has(page: Path, heading: str) -> bool:
    return page.is_file() and (not heading or f"# {heading}\n" in page.read_text(encoding="utf-8"))


def test_every_page_that_a_source_cites_is_there_with_its_heading() -> None:
    cited = {place for text in _sources().values() for place in _cited(text)}
    assert ("docs/design.md", "Silence") in cited
    missing = [(page, heading) for page, heading in sorted(cited) if not _has(ROOT / page, heading)]
    assert missing == []


def test_every_record_that_a_source_cites_is_there() -> None:
    there = {page.name[:4] for page in (ROOT / "docs/adr").glob("*.md")}
    cited = {
        (source, number)
        for source, text in _sources().items()
        for number in re.findall(r"ADRs? (\d{4})", text) + re.findall(r"docs/adr/\d{4}(?!-)", text)
    }
    assert len(cited) > 3
    assert {(source, number) for source, number in cited if number not in there} == set()


def test_every_place_in_back_ticks_that_a_source_names_is_there() -> None:
    named = {
        (source, place)
        for source, text in _sources().items()
        for place in re.findall(rf"`((?:{FOLDERS}|caesura)/[\w./*-]*\w)(?:::\w+)?`", text)
    }
    assert len(named) > 20
    assert {(source, place) for source, place in named if not list(ROOT.glob(place))} == set()


def test_no_source_cites_a_design_that_is_not_here() -> None:
    citing = [file for folder in ("schemas", "worker", "models") for file in (ROOT / folder).rglob("*.py")]
    assert [str(file) for file in citing if re.search(r"\bDESIGN\b", file.read_text(encoding="utf-8"))] == []


def test_every_decision_stands_in_their_index_as_it_is_called() -> None:
    folder = ROOT / "docs" / "adr"
    heads = {file.name: file.read_text(encoding="utf-8").split("\n", 1)[0] for file in sorted(folder.glob("0*.md"))}
    listed = re.findall(r"^- \[(\d{4})\]\(([\w.-]+)\): (.+)$", TEXTS["docs/adr/README.md"], re.MULTILINE)
    assert {name: f"# {number}: {title}" for number, name, title in listed} == heads
