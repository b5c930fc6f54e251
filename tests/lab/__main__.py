# SPDX-License-Identifier: MIT
"""``python -m tests.lab --out build/lab [--sample]``: record anew in a guest."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from tests.lab.record import TOP, record

SAMPLE = TOP / "resources/samples/handshake"


def main() -> int:
    """Record; with --sample replace the bundled recording, on a clock that counts instructions."""
    parser = argparse.ArgumentParser(prog="tests.lab", description="Record in a QEMU guest.")
    parser.add_argument("--out", type=Path, default=Path("build/lab"))
    parser.add_argument("--sample", action="store_true", help="replace the bundled recording")
    args = parser.parse_args()
    recording = record(args.out.resolve(), counted=args.sample)
    for path in recording[:2]:
        if args.sample:
            shutil.copy(path, SAMPLE / path.name)
        print(f"{path}  {path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
