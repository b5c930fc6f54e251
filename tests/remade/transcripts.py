# SPDX-License-Identifier: MIT
"""What a guest's terminal showed: the drop experiment's file in /proc, and DTrace's listing."""

from __future__ import annotations

from .kept import guest_files

MOST = 8  # lines of the long listing


def control_file() -> str:
    """Return the session with /proc/net/kbl."""
    return _block((guest_files() / "control-file.txt").read_text("utf-8"))


def listing() -> str:
    """Return the listing of the drop experiment's functions, and the start of that of all."""
    some = (guest_files() / "listing.txt").read_text("utf-8")
    every = (guest_files() / "listing-all.txt").read_text("utf-8").splitlines()
    first = "\n".join(every[:MOST])
    return _block(
        f"# kblrecord -l --no-life -f experiment-6.txt\n{some}"
        f"# kblrecord -l -f probes.txt\n{first}\n... and {len(every) - MOST:,} lines more\n"
    )


def _block(text: str) -> str:
    return f"```console\n{text.rstrip()}\n```\n"
