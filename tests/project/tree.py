# SPDX-License-Identifier: MIT
"""The files that belong to the project."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def project_files() -> list[str]:
    """Return the paths of all files in git, and of new files that it does not ignore.

    They are relative to ROOT.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    return sorted(name for name in set(listed) if name and (ROOT / name).is_file())
