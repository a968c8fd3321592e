"""A release of the chart on the control plane, and what a test asks about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from tests.deploy.cluster.control_plane import ControlPlane
from tests.deploy.rendered import values_of
from tests.harness.places import CHART


@dataclass(frozen=True, slots=True)
class Release:
    """One release; its objects are named ``<name>-caesura``. within: how long helm waits for it."""

    cluster: ControlPlane
    namespace: str
    name: str = "speech"
    within: str = "90s"

    @property
    def _wait(self) -> tuple[str, ...]:
        return ("--wait", "--timeout", self.within)

    @property
    def full_name(self) -> str:
        return f"{self.name}-caesura"

    def install(self, *changes: Mapping[str, Any], wait: bool = True) -> None:
        waiting = self._wait if wait else ()
        self._helm("install", self.name, str(CHART), *waiting, "--values", "-", given=_yaml(*changes))

    def upgrade_or_install(self, *changes: Mapping[str, Any], within: str) -> None:
        waiting = ("--install", "--wait", "--timeout", within)
        self._helm("upgrade", self.name, str(CHART), *waiting, "--values", "-", given=_yaml(*changes))

    def upgrade(self, *changes: Mapping[str, Any], wait: bool = True) -> None:
        waiting = self._wait if wait else ()
        self._helm("upgrade", self.name, str(CHART), *waiting, "--values", "-", given=_yaml(*changes))

    def roll_back(self) -> None:
        self._helm("rollback", self.name, *self._wait)

    def uninstall(self) -> None:
        self._helm("uninstall", self.name, *self._wait)

    def disruptions_allowed(self) -> int:
        """Return how many pods the budget lets go now; -1 until its controller has looked."""
        status = self.cluster.get("poddisruptionbudget", self.full_name, self.namespace)["status"]
        return int(status.get("disruptionsAllowed", -1))

    def notes(self) -> str:
        return self._helm("get", "notes", self.name)

    def stateful_set(self) -> dict[str, Any]:
        return self.cluster.get("statefulset", self.full_name, self.namespace)

    def ready(self) -> int:
        """Return how many pods are ready."""
        return int(self.stateful_set()["status"].get("readyReplicas", 0))

    def rolled_out(self) -> bool:
        """Tell whether every pod is of the newest revision, as ``kubectl rollout status`` does."""
        found = self.stateful_set()
        status = found["status"]
        seen = bool(status.get("observedGeneration") == found["metadata"]["generation"])
        return seen and bool(status.get("updatedReplicas", 0) == found["spec"]["replicas"] == status["replicas"])

    def pods(self) -> dict[str, dict[str, Any]]:
        """Return the workers' pods by name."""
        found = self.cluster.get("pods", namespace=self.namespace)["items"]
        return {
            pod["metadata"]["name"]: pod
            for pod in found
            if pod["metadata"]["labels"].get("app.kubernetes.io/component") == "worker"
        }

    def identities(self) -> dict[str, str]:
        """Return the pods' unique ids by name: one that was replaced has another."""
        return {name: pod["metadata"]["uid"] for name, pod in self.pods().items()}

    def images(self) -> dict[str, str]:
        return {name: pod["spec"]["containers"][0]["image"].rpartition(":")[2] for name, pod in self.pods().items()}

    def variables(self) -> dict[str, set[str]]:
        """Return the names of each pod's environment."""
        return {
            name: {variable["name"] for variable in pod["spec"]["containers"][0]["env"]}
            for name, pod in self.pods().items()
        }

    def evict(self, pod: str) -> None:
        """Ask for an eviction, as a drain of the node does. Failed where it is refused."""
        eviction = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": pod, "namespace": self.namespace},
        }
        path = f"/api/v1/namespaces/{self.namespace}/pods/{pod}/eviction"
        self.cluster.kubectl("create", "--raw", path, "--filename", "-", given=json.dumps(eviction))

    def left(self, more: str = ",scaledobject,podmonitor,prometheusrule,kafkatopic,kafkauser") -> set[str]:
        """Return what of the release is still there, as kind/name. more: kinds that are not Kubernetes' own."""
        kinds = "statefulset,service,configmap,serviceaccount,poddisruptionbudget,networkpolicy,job,pod"
        items = self.cluster.get(kinds + more, namespace=self.namespace)["items"]
        named = {f"{one['kind']}/{one['metadata']['name']}" for one in items}
        return {name for name in named if self.name in name.partition("/")[2]}

    def _helm(self, verb: str, *arguments: str, given: str | None = None) -> str:
        return self.cluster.helm(verb, *arguments, "--namespace", self.namespace, given=given)


def _yaml(*changes: Mapping[str, Any]) -> str:
    return yaml.safe_dump(values_of(*changes))
