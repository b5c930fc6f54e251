# SPDX-License-Identifier: MIT
"""``python -m tests.reference LOG.kbl [CAPTURE.pcap ...]``: import them, and compare.

The session's tables first, then what commands write and what the window's models show.
"""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
import tempfile
from pathlib import Path

from .compare import RANK
from .whole_session import compared, share, unknown_share

SHOWN = 20  # differences
PATHS = 100  # packets, and packet lives, whose paths are compared


def main() -> int:
    """Return the exit code: 1 if anything differs, 2 if there is nothing to compare."""
    parser = argparse.ArgumentParser(prog="tests.reference", description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("capture", type=Path, nargs="*")
    parser.add_argument("--paths", type=int, default=PATHS, help="packets whose paths are compared")
    parser.add_argument("--session", type=Path, help="keep it here; one that is here is compared")
    parser.add_argument("--shown", type=int, default=SHOWN, help="differences that are printed")
    args = parser.parse_args()
    gc.disable()  # millions of objects that live until the end
    with tempfile.TemporaryDirectory() as folder:
        session = args.session or Path(folder) / "a.skbv"
        if not session.exists() and (complaint := _import(session, [*args.capture, args.log])):
            print(f"{args.log}: the import made no session: {complaint}")
            return 2
        tables, outputs, lines = compared(args.log, session, Path(folder), args.paths)
    differ = len(lines) - len(tables.lines)
    print(f"{args.log}: outputs: {outputs} cells, {differ} differ")
    for line in lines[: args.shown]:
        print(line)
    shares = ", ".join(f"{n} {share(tables, (n,)):.2f} %" for n in RANK if tables.ns[n])
    print(f"{args.log}: of {tables.ns['kernel']} ns: {shares}")
    unknown = unknown_share(tables)
    print(f"{args.log}: {tables.cells} cells, {len(lines)} differ; {unknown:.2f} % unknown")
    return min(len(lines), 1)


def _import(session: Path, files: list[Path]) -> str:
    """Make a session; what the command complained of if it made none."""
    command = [sys.executable, "-m", "skbviewer", "import", "-o", str(session), *map(str, files)]
    done = subprocess.run(command, check=False, stderr=subprocess.PIPE, text=True)
    return "" if session.exists() else f"{done.stderr.strip()} ({done.returncode})"


if __name__ == "__main__":
    sys.exit(main())
