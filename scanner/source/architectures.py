# SPDX-License-Identifier: MIT
"""The architecture to which a file belongs, and the one architecture used if a tree has several."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache

_FOLDER = re.compile(r"(?:^|/)(?:arch/(\w+)/|asm-(\w+)/)")
_NAMES_TEXT = (
    "x86 i386 x86_64 amd64 arm64 aarch64 arm arm26 alpha arc avr32 blackfin c6x cris csky frv "
    "h8300 hexagon ia64 loongarch m32r m68k m68knommu microblaze mips mips64 nds32 nios2 openrisc "
    "parisc powerpc ppc ppc64 riscv s390 s390x score sh sh64 sparc sparc64 tile um unicore32 v850 "
    "xtensa "
)
_NAMES = frozenset(_NAMES_TEXT.split())
# The first one that a tree has is used for all.
PREFERRED = ("x86", "i386", "x86_64", "amd64", "arm64", "aarch64", "arm")
_SHARED = ("generic", "offsets")


@cache
def _of_folder(folder: str) -> str:
    match = _FOLDER.search(f"{folder}/")
    if match:
        name = match[1] or match[2]
        return "" if name in _SHARED else name
    return next((part for part in folder.split("/") if part in _NAMES), "")


def architecture(path: str) -> str:
    """Return the architecture in whose folder a file is; "" if it is for all architectures."""
    return _of_folder(path.rpartition("/")[0])


def order(architecture: str, first: str = "") -> tuple[bool, int, str]:
    """Return an architecture's sort key: `first` comes first, then the members of PREFERRED."""
    known = architecture in PREFERRED
    place = PREFERRED.index(architecture) if known else len(PREFERRED)
    return architecture != first, place, architecture


def main_architecture(paths: Iterable[str], wanted: str = "") -> str:
    """Return the architecture whose functions represent those of all architectures.

    Returns "" if the tree has no folders of architectures.
    """
    found = Counter(map(architecture, paths))
    del found[""]
    return min(found, key=lambda name: order(name, wanted), default="")
