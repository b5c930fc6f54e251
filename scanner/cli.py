# SPDX-License-Identifier: MIT
"""Entry point of ``skbscan``, which says so far only that there is nothing behind it."""

from __future__ import annotations

import sys


def main() -> int:
    """Say that the scanner is not written yet; always 2, the exit code for "cannot do that"."""
    print("skbscan: the scanner is not written yet", file=sys.stderr)
    return 2
