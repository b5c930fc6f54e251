# SPDX-License-Identifier: MIT
"""``python -m tests.lab --out build/lab [--samples]``: make new recordings in a guest."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.lab import debs, samples
from tests.lab.record import record


def main() -> int:
    """Record the handshake, or with --samples all bundled recordings, and replace those."""
    parser = argparse.ArgumentParser(prog="tests.lab", description="Record in a QEMU guest.")
    parser.add_argument("--out", type=Path, default=Path("build/lab"))
    parser.add_argument("--series", choices=debs.METAS, default="6.1", help="which kernel")
    parser.add_argument("--samples", action="store_true", help="replace the bundled recordings")
    args = parser.parse_args()
    folder = args.out.resolve()
    lone = folder / args.series
    written = samples.renew(folder) if args.samples else record(lone, args.series)[:2]
    for path in written:
        print(f"{path}  {path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
