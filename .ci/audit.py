"""Known advisories against a pinned requirements file; says so where no advisory database answers.

pip-audit ends well even when it could look nothing up, so its JSON is read here: an advisory fails, and so does an
audit that looked up only a part; one that could look up nothing at all is reported as not done.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

_COMMAND = ("-m", "pip_audit", "--disable-pip", "--require-hashes", "--progress-spinner=off", "--format=json")


def main(requirements: str) -> int:
    """Audit one requirements file; return the exit status."""
    done = subprocess.run(  # noqa: S603 - our own interpreter and arguments
        [sys.executable, *_COMMAND, "-r", requirements], capture_output=True, text=True, check=False, timeout=100
    )
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (json.JSONDecodeError, KeyError):
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        return _not_done(requirements, last[:200])
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    flawed = [package for package in packages if package.get("vulns")]
    for package in flawed:
        for advisory in package["vulns"]:
            fixed = ", ".join(advisory["fix_versions"]) or "no release yet"
            sys.stdout.write(f"{package['name']} {package['version']}: {advisory['id']}, fixed in {fixed}\n")
    if flawed:
        return 1
    if len(skipped) == len(packages):
        return _not_done(requirements, "no package could be looked up")
    if skipped:
        sys.stdout.write(f"audit: could not look up {', '.join(skipped)}\n")
        return 1
    sys.stdout.write(f"audit: {len(packages)} packages of {Path(requirements).name}, no known advisory\n")
    return 0


def _not_done(requirements: str, why: str) -> int:
    sys.stdout.write(f"audit: NOT DONE for {Path(requirements).name}: the advisory database was not reached ({why})\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
