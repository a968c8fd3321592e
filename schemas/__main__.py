"""Keep the JSON Schema files: ``schemas`` writes them, ``schemas --check`` verifies them."""

from __future__ import annotations

import argparse
import sys

from caesura.schemas.json_schema import stale_files, write_files


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or with ``--check`` name those that are not current; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m caesura.schemas", description="Keep schemas/json current with the types."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a file is not current")
    if not parser.parse_args(arguments).check:
        write_files()
        return 0
    stale = stale_files()
    for name in stale:
        sys.stderr.write(f"schemas/json/{name} is not current: run python -m caesura.schemas\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
