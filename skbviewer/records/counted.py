# SPDX-License-Identifier: MIT
"""Numbers of things in sentences."""

from __future__ import annotations


def counted(count: int, one: str, several: str = "") -> str:
    """ "1 packet", "2 packets"; `several` where an s does not make the plural."""
    return f"{count} {one if count == 1 else several or one + 's'}"
