"""The chart, rendered by helm: values in, Kubernetes objects out."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from tests.harness.deploy_tools import tool
from tests.harness.places import CHART

KUBERNETES = "1.36.3"
NEEDED: dict[str, Any] = {
    "image": {"repository": "registry.example/caesura"},
    "settings": {
        "kafka": {"bootstrap_servers": "kafka-0.kafka:9092,kafka-1.kafka:9093"},
        "redis": {"addresses": ["redis.data:6379"]},
    },
}
"""The least that can be installed."""


class Refused(Exception):  # noqa: N818  # it reads as the sentence it stands for
    """Helm would not render; the text is what the user sees."""


class Objects(list[dict[str, Any]]):
    """What was rendered."""

    def of(self, kind: str, name: str = "") -> dict[str, Any]:
        """Return the one object of a kind whose name ends so; hooks are asked for by theirs."""
        found = [one for one in self.all(kind) if one["metadata"]["name"].endswith(name)]
        if not name:
            found = [one for one in found if "helm.sh/hook" not in one["metadata"].get("annotations", {})]
        assert len(found) == 1, f"{len(found)} objects of kind {kind} whose name ends in {name!r}"
        return found[0]

    def all(self, kind: str) -> list[dict[str, Any]]:
        """Return all objects of a kind."""
        return [one for one in self if one["kind"] == kind]


def settings_of(workload: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables that the one container of a StatefulSet or Job reads, but for those by reference."""
    (container,) = workload["spec"]["template"]["spec"]["containers"]
    plain = (one for one in container["env"] if "value" in one)
    return {one["name"]: one["value"].replace("$$", "$") for one in plain}  # as the kubelet does


def values_of(*changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the least values with changes on top, as helm merges several files."""
    merged: dict[str, Any] = {}
    for one in (NEEDED, *changes):
        merged = _merged(merged, one)
    return merged


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(below)
    for name, value in above.items():
        both = isinstance(value, Mapping) and isinstance(found.get(name), Mapping)
        found[name] = _merged(found[name], value) if both else value
    return found


def render(
    *changes: Mapping[str, Any], release: str = "speech", least: bool = True, more: Sequence[str] = ()
) -> Objects:
    """Render the chart. more: further options of helm's. Raises Refused with helm's words."""
    values = values_of(*changes) if least else dict(changes[0])
    done = subprocess.run(
        [
            tool("helm"),
            "template",
            release,
            CHART,
            "--namespace",
            "asr",
            "--kube-version",
            KUBERNETES,
            *more,
            "--values",
            "-",
        ],
        input=yaml.safe_dump(values),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if done.returncode:
        raise Refused(done.stderr)
    return Objects(_documents(done.stdout))


def _documents(text: str) -> Iterator[dict[str, Any]]:
    for document in yaml.safe_load_all(text):
        if document is not None:
            yield document
