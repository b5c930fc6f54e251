# SPDX-License-Identifier: MIT
"""Find files of resources/: in the source tree, or inside an installed package."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
INSTALLED = PACKAGE / "_resources"  # put there by the wheel (pyproject.toml)
SOURCE_TREE = PACKAGE.parent / "resources"


def resource(name: str) -> Path:
    """Return the path of a resource, such as "layers.json" or "samples/handshake".

    Raises FileNotFoundError if this installation has no such resource.
    """
    for folder in (INSTALLED, SOURCE_TREE):
        if (folder / name).exists():
            return folder / name
    raise FileNotFoundError(f"no resource {name!r} beside {PACKAGE}")
