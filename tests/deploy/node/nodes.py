"""Real nodes beside a control plane: a kubelet and a containerd each, and a kube-proxy for all of them.

They share the network namespace in which ``python -m tests.deploy.node`` runs the tests, and the mount namespace, in
which ``/var`` is an overlay and ``/run`` is empty: what they write there goes when the namespaces go.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

from tests.deploy.cluster.control_plane import ControlPlane
from tests.deploy.containers.machine import cgroup_folders
from tests.harness.deploy_tools import tool
from tests.harness.waiting import wait_until

CGROUP = "CAESURA_NODE_CGROUP"
"""The variable that names the cgroup below which everything runs."""
FOLDER = "CAESURA_NODE_FOLDER"
"""The variable that names the folder of all its files; it is removed once its mounts have gone with their namespace."""
_LINK = "node0"
_SETTINGS = {
    "vm/overcommit_memory": "1",
    "vm/panic_on_oom": "0",
    "kernel/panic": "10",
    "kernel/panic_on_oops": "1",
    "kernel/keys/root_maxkeys": "1000000",
    "kernel/keys/root_maxbytes": "25000000",
}
"""What a kubelet sets on its machine, and ends where it cannot; it finds files that say so already."""
_OVER_SETTINGS = """
mount --make-rprivate /proc
for one in $settings; do mount --bind "$folder/$one" "/proc/sys/$one"; done
exec "$@"
"""


def make_network() -> None:
    """Give this network namespace a link, with a default route that leads nowhere: API server and kubelets want one."""
    _ip("link", "set", "lo", "up")
    _ip("link", "add", _LINK, "type", "veth", "peer", "name", f"{_LINK}-peer")
    for link in (_LINK, f"{_LINK}-peer"):
        _ip("link", "set", link, "up")
    _ip("address", "add", "192.0.2.2/24", "dev", _LINK)
    _ip("route", "add", "default", "via", "192.0.2.1", "dev", _LINK)


class Nodes:
    """``add`` starts nodes on the network that ``make_network`` made. The control plane ends their processes.

    images: archives of the images that pods may name.
    """

    def __init__(self, plane: ControlPlane, images: Sequence[Path]) -> None:
        self._plane = plane
        self._images = images
        self._addresses: dict[str, str] = {}

    def add(self, *names: str) -> None:
        """Start nodes, and wait until pods can be put on them and their images are there."""
        for name in names:
            number = len(self._addresses)
            self._addresses[name] = f"192.0.2.{10 + number}"
            _ip("address", "add", f"{self._addresses[name]}/24", "dev", _LINK)
            self._start_containerd(name, pods=f"198.51.100.{number * 64}/26")
        with ThreadPoolExecutor() as importing:
            list(importing.map(self._import_images, names))
        for name in names:
            self.start_kubelet(name)
        self._plane.wait(lambda: all(self.ready(name) for name in names), "the nodes are ready")
        self._plane.spawn(
            "kube-proxy",
            f"--kubeconfig={self._plane.kubeconfig}",
            f"--hostname-override={names[0]}",
            "--proxy-mode=iptables",
            "--cluster-cidr=198.51.100.0/24",
            "--conntrack-max-per-core=0",
            "--conntrack-tcp-timeout-established=0s",
            "--conntrack-tcp-timeout-close-wait=0s",
        )

    def ready(self, name: str) -> bool:
        """Tell whether a node says that it is ready."""
        found = self._plane.get("nodes")["items"]
        of_name = [node for node in found if node["metadata"]["name"] == name]
        conditions = of_name[0]["status"].get("conditions", ()) if of_name else ()
        return any((one["type"], one["status"]) == ("Ready", "True") for one in conditions)

    def start_kubelet(self, name: str) -> None:
        """Start a node's kubelet, for the first time or again."""
        folder = self._folder(name)
        cgroup = f"{os.environ[CGROUP]}/{name}"
        for hierarchy in cgroup_folders():
            (hierarchy / cgroup).mkdir(parents=True, exist_ok=True)
        settings = folder / "settings"
        for setting, value in _SETTINGS.items():
            file = settings / setting
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{value}\n")
        (folder / "resolv.conf").write_text("nameserver 192.0.2.1\n")
        written = folder / "kubelet.yaml"
        written.write_text(yaml.safe_dump(self._kubelet(name, cgroup)))
        variables = [f"folder={settings}", f"settings={' '.join(_SETTINGS)}", f"PATH={os.environ['PATH']}:/usr/sbin"]
        self._plane.spawn(
            "kubelet",
            f"--config={written}",
            f"--kubeconfig={self._plane.kubeconfig}",
            f"--root-dir={folder}/kubelet",
            f"--hostname-override={name}",
            f"--node-ip={self._addresses[name]}",
            f"--node-labels=topology.kubernetes.io/zone=zone-{name}",
            named=f"kubelet-{name}",
            before=[
                "env",
                *variables,
                "unshare",
                "--mount",
                "--propagation=unchanged",
                "sh",
                "-c",
                _OVER_SETTINGS,
                "sh",
            ],
        )

    def container(self, pod: dict[str, Any]) -> int:
        """Return the process of a pod's first container."""
        identity = pod["status"]["containerStatuses"][0]["containerID"].partition("://")[2]
        listed = self._ctr(pod["spec"]["nodeName"], "tasks", "list").splitlines()[1:]
        return next(int(line.split()[1]) for line in listed if line.startswith(identity))

    def _start_containerd(self, name: str, pods: str) -> None:
        folder = self._folder(name)
        (folder / "cni").mkdir(parents=True)
        ipam = {
            "type": "host-local",
            "ranges": [[{"subnet": pods}]],
            "routes": [{"dst": "0.0.0.0/0"}],
            "dataDir": f"{folder}/addresses",
        }
        network = {"cniVersion": "1.0.0", "name": "pods", "plugins": [{"type": "ptp", "ipam": ipam}]}
        (folder / "cni" / "10-pods.conflist").write_text(json.dumps(network))
        written = folder / "containerd.toml"
        written.write_text(_CONTAINERD.format(folder=folder))
        self._plane.spawn(
            "containerd",
            f"--config={written}",
            named=f"containerd-{name}",
            before=["env", f"PATH={tool('containerd').parent}:{os.environ['PATH']}:/usr/sbin:/sbin"],
        )

    def _import_images(self, name: str) -> None:
        wait_until(lambda: self._answers(name), f"containerd of {name} answers", within_s=60)
        for image in self._images:
            self._ctr(name, "images", "import", "--all-platforms", str(image))

    def tag(self, image: str, also: str) -> None:
        """Give an image another name on every node."""
        for name in self._addresses:
            self._ctr(name, "images", "tag", image, also)

    def _answers(self, name: str) -> bool:
        try:
            self._ctr(name, "version")
        except subprocess.CalledProcessError:
            return False
        return True

    def _ctr(self, name: str, *arguments: str) -> str:
        socket = self._folder(name) / "containerd.sock"
        command = [str(tool("ctr")), "--address", str(socket), "--namespace", "k8s.io", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout

    def _folder(self, name: str) -> Path:
        return self._plane.folder / name

    def _kubelet(self, name: str, cgroup: str) -> dict[str, Any]:
        folder = self._folder(name)
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": self._addresses[name],
            "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
            "authorization": {"mode": "AlwaysAllow"},
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": f"/{cgroup}",
            "failCgroupV1": False,
            "failSwapOn": False,
            "containerRuntimeEndpoint": f"unix://{folder}/containerd.sock",
            "podLogsDir": f"{folder}/logs",
            "volumePluginDir": f"{folder}/plugins",
            "resolvConf": f"{folder}/resolv.conf",
            "featureGates": {"KubeletInUserNamespace": True},
            "oomScoreAdj": 0,
            "healthzPort": 0,
            "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
            "imageGCHighThresholdPercent": 100,
            "nodeStatusUpdateFrequency": "5s",
        }


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)  # noqa: S607


_CONTAINERD = """
version = 3
root = "{folder}/images"
state = "{folder}/state"
disabled_plugins = ["io.containerd.nri.v1.nri", "io.containerd.internal.v1.opt"]
[grpc]
  address = "{folder}/containerd.sock"
[ttrpc]
  address = "{folder}/containerd.sock.ttrpc"
[plugins.'io.containerd.cri.v1.images']
  snapshotter = "overlayfs"
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = "localhost/caesura-pause:test"
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
  disable_apparmor = true
  netns_mounts_under_state_dir = true
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ["/usr/lib/cni", "/opt/cni/bin"]
    conf_dir = "{folder}/cni"
  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
      BinaryName = "runc"
      SystemdCgroup = false
"""
