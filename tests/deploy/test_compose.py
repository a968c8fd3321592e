"""The compose file starts what the project has, with settings that the worker takes."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from caesura.worker.settings.tree import SettingSources, load_settings
from tests.harness.deploy_tools import tool
from tests.harness.places import DEPLOY, ROOT

_FILE = DEPLOY / "compose" / "compose.yaml"


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(_FILE.read_text())["services"]
    return found


def ours() -> dict[str, Any]:
    return {name: one for name, one in services().items() if one["image"].startswith("caesura:")}


@pytest.mark.parametrize("name", sorted(ours()))
def test_the_settings_of_a_service_are_taken(name: str) -> None:
    environ = {variable: str(value) for variable, value in ours()[name]["environment"].items()}
    assert load_settings(SettingSources(environ=environ)).worker.deployment == "local"


def test_no_two_workers_have_one_transactional_id() -> None:
    workers = [one for one in ours().values() if one["command"] == ["worker"]]
    ordinals = [one["environment"]["CAESURA_WORKER_ORDINAL"] for one in workers]
    assert len(workers) > 1
    assert len(set(ordinals)) == len(workers)


def test_a_worker_may_drain_before_it_is_killed() -> None:
    environ = {name: str(value) for name, value in ours()["worker-0"]["environment"].items()}
    drain_s = load_settings(SettingSources(environ=environ)).worker.drain_deadline_s
    for name in ("worker-0", "worker-1"):
        assert float(ours()[name]["stop_grace_period"].removesuffix("s")) > drain_s


def test_every_file_that_is_mounted_is_there() -> None:
    for service in services().values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if source.startswith("."):
                assert (_FILE.parent / source).is_file(), source


def test_the_image_is_built_from_the_root_of_the_repository() -> None:
    build = services()["topics"]["build"]
    context = (_FILE.parent / build["context"]).resolve()
    assert context == ROOT
    assert (context / build["dockerfile"]).is_file()


def test_prometheus_watches_every_worker_under_the_labels_that_the_alerts_go_by() -> None:
    document = yaml.safe_load((_FILE.parent / "prometheus.yaml").read_text())
    scraped = document["scrape_configs"][0]["static_configs"][0]
    assert sorted(target.split(":")[0] for target in scraped["targets"]) == sorted(
        name for name, one in ours().items() if one["command"] == ["worker"]
    )
    assert set(scraped["labels"]) == {"namespace", "deployment"}


def test_our_services_are_read_only_and_unprivileged() -> None:
    for name, service in ours().items():
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in service["security_opt"], name


def test_the_sample_speech_is_one_session_a_line() -> None:
    lines = Path(_FILE.parent / "sample.txt").read_text().splitlines()
    assert all(line.split() for line in lines)
    assert len(lines) >= 5


def loaded(file: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([tool("compose"), file], capture_output=True, text=True, check=False, timeout=30)


def test_compose_itself_loads_it() -> None:
    done = loaded(_FILE)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == set(services())
