#!/bin/sh
# Second step of the image: a folder that holds the worker, its libraries and models, and nothing else.
#   assemble.sh WHEELS TARGET    WHEELS as fetch.sh left it; TARGET must not be there yet
set -eu
wheels=$1
target=$2
python=${PYTHON:-python3}
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
pip() { "$wheels/tools/bin/python" -m pip --quiet --disable-pip-version-check --no-input "$@"; }

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
pip wheel --no-deps --no-build-isolation --no-cache-dir --wheel-dir "$made" .

"$python" -m venv --without-pip "$target"
# Not compiled yet: compileall below writes files that do not depend on the time of the build.
pip --python "$target/bin/python" install --no-index --no-deps --no-compile "$wheels"/*.whl "$made"/*.whl
find "$target" -type d \( -name tests -o -name __pycache__ \) -prune -exec rm -rf {} +
"$target/bin/python" -m compileall -q -j 1 --invalidation-mode unchecked-hash "$target"/lib

"$target/bin/python" "$here/verify.py" "$target"
"$target/bin/python" "$here/sbom.py" >"$target/sbom.cdx.json"
chmod -R a+rX,go-w "$target"
