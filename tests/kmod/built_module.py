# SPDX-License-Identifier: MIT
"""The symbols that a built kbl.ko needs from its kernel, and its compiler's warnings."""

from __future__ import annotations

import re
from pathlib import Path

from tests.kmod.headers import run


def warnings(said: str) -> list[str]:
    """Return the warnings among what make printed."""
    found = [line for line in said.splitlines() if "warning:" in line.lower()]
    # The kernel's Makefile says this of any module if gcc had a later security update.
    return [line for line in found if "the compiler differs" not in line]


def not_exported(module: Path, kdir: Path) -> set[str]:
    """Return the symbols that a module needs and the kernel of `kdir` does not export."""
    undefined = set(re.findall(r" U (\S+)", run("nm", "--undefined-only", str(module))))
    assert len(undefined) > 20
    table = (kdir / "Module.symvers").read_text().splitlines()
    return undefined - {line.split("\t")[1] for line in table}
