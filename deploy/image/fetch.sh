#!/bin/sh
# First step of the image: bring what is pinned, checked by its hashes, and make wheels of it.
#   fetch.sh WHEELS    an empty folder; PYTHON is the Python to make them for (python3)
set -eu
wheels=$1
python=${PYTHON:-python3}
cd "$(dirname "$0")/../.."
tools="$wheels/tools"

"$python" -m venv "$tools"
pip() { "$tools/bin/python" -m pip --quiet --disable-pip-version-check --no-input "$@"; }
pip install --require-hashes --no-cache-dir -r requirements/build.txt
# jieba comes as source alone; it is made a wheel with the pinned setuptools, not with whatever is newest.
pip wheel --require-hashes --no-build-isolation --no-cache-dir --wheel-dir "$wheels" -r requirements/runtime.txt
