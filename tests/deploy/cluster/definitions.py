"""The custom resources' definitions of KEDA, the Prometheus operator and Strimzi, from their own releases."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.harness.parts.kafka_broker import find_java
from tests.harness.places import TOOLS

_HERE = Path(__file__).resolve().parents[1] / "tools"
KEDA = ("keda", "github.com/kedacore/keda/v2")
"""A module, after the folder below tests/deploy/tools whose go.mod names its version."""
_PROMETHEUS = ("crds", "github.com/prometheus-operator/prometheus-operator")
_WANTED = {
    KEDA: ("config/crd/bases", ("scaledobjects", "triggerauthentications")),
    _PROMETHEUS: ("example/prometheus-operator-crd", ("podmonitors", "prometheusrules")),
}
_STRIMZI = {"KafkaTopic": "topic", "KafkaUser": "user"}


def definitions() -> Iterator[Path]:
    """Yield a YAML file a definition; downloads what is not there yet (Go's module proxy, Maven)."""
    for module, (folder, names) in _WANTED.items():
        found = module_folder(module) / folder
        for name in names:
            (file,) = found.glob(f"*_{name}.yaml")
            yield file
    yield from _strimzi()


def module_folder(module: tuple[str, str]) -> Path:
    """Return where a module's files are; downloads them if they are not there yet."""
    folder, path = module
    done = subprocess.run(
        ["go", "mod", "download", "-json", path],  # noqa: S607
        cwd=_HERE / folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return Path(json.loads(done.stdout)["Dir"])


def _strimzi() -> Iterator[Path]:
    """Strimzi publishes no file of its definitions but a generator and the classes that it reads."""
    made = TOOLS.parent / "strimzi"
    libraries = made / "libraries"
    files = {kind: made / f"{kind}.yaml" for kind in _STRIMZI}
    if not all(file.exists() for file in files.values()):
        command = ["mvn", "-q", "-B", "-f", str(_HERE / "strimzi" / "pom.xml"), "dependency:copy-dependencies"]
        subprocess.run([*command, f"-DoutputDirectory={libraries}"], check=True, capture_output=True)
        generator = [str(find_java()), "-cp", f"{libraries}/*", "io.strimzi.crdgenerator.CrdGenerator"]
        versions = ["--target-kube", "1.25+", "--crd-api-version", "v1", "--api-versions", "v1alpha1,v1beta1,v1beta2"]
        of = [f"io.strimzi.api.kafka.model.{_STRIMZI[kind]}.{kind}={file}" for kind, file in files.items()]
        subprocess.run(
            [*generator, *versions, "--storage-version", "v1beta2", "--yaml", *of], check=True, capture_output=True
        )
    yield from files.values()
