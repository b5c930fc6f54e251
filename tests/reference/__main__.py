# SPDX-License-Identifier: MIT
"""``python -m tests.reference LOG.kbl [CAPTURE.pcap ...]``: import them, and compare."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from .compare import compare

SHOWN = 20  # differences


def main() -> int:
    """The exit code: 1 if anything differs."""
    log, *captures = (Path(name) for name in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        session = Path(folder) / "a.skbv"
        files = map(str, (*captures, log))
        command = [sys.executable, "-m", "skbviewer", "import", "-o", str(session), *files]
        subprocess.run(command, check=False, stderr=subprocess.DEVNULL)
        found = compare(session, log)
    for line in found.lines[:SHOWN]:
        print(line)
    ns = found.ns
    unknown = ns["outside probed functions"] + ns["records were lost meanwhile"]
    share = 100 * unknown / ns["kernel"] if ns["kernel"] else 0
    print(f"{log}: {found.cells} cells, {len(found.lines)} differ; {share:.2f} % unknown")
    return min(len(found.lines), 1)


if __name__ == "__main__":
    sys.exit(main())
