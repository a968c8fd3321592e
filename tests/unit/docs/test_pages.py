"""What any page names exists: files, tests, settings, variables, metrics, commands; a stale name fails here."""

from __future__ import annotations

import re

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
