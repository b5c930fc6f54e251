# SPDX-License-Identifier: MIT
"""NetSlice, Table 3: sizes of a kernel with probes in its source, beside the plain kernel.

python -m tests.remade.kernel_sizes builds both small kernels of ``make bench-source``, where it
keeps them, and writes their sizes to tests/remade/recorded/kernel-sizes.json.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.bench.source import FOLDERS
from tests.lab import debs, small_kernel
from tests.lab.record import TOP

from .kept import FOLDER
from .markdown import table
from .scan import LICENCE

KEPT = FOLDER / "kernel-sizes.json"
OUT = TOP / "build/bench/source"
SECTIONS = ("text", "data", "bss")  # of vmlinux, as size(1) adds them up
SYMBOLS, PROBED = "symbols in System.map", "functions with probes"


def sizes(folder: Path, kernel: debs.Kernel, probes: bool) -> dict[str, int]:
    """Return the sizes of a kernel's files and sections in bytes, and its symbols and probes."""
    build = kernel.headers
    files = {"bzImage": kernel.image, "vmlinux": build / "vmlinux"}
    files["System.map"] = build / "System.map"
    said = debs.run("size", "--format=berkeley", str(files["vmlinux"])).splitlines()[1].split()
    return {
        **{name: path.stat().st_size for name, path in files.items()},
        **dict(zip(SECTIONS, map(int, said), strict=False)),
        SYMBOLS: len(files["System.map"].read_text().splitlines()),
        PROBED: len(small_kernel.manifest(folder)) if probes else 0,
    }


def kernel_sizes() -> str:
    """Return the sizes of both kernels, and by how much the probes enlarge each."""
    found = json.loads(KEPT.read_text("utf-8"))
    plain, probed = (found[FOLDERS[probes]] for probes in (False, True))
    rows = [
        (name, f"{plain[name]:,}", f"{probed[name]:,}", _growth(plain[name], probed[name]))
        for name in plain
    ]
    return table(("", "plain", "with probes", "grows by"), rows)


def _growth(plain: int, probed: int) -> str:
    return f"{100 * (probed / plain - 1):.1f} %" if plain else ""


def main() -> None:
    """Build both kernels, and keep their sizes."""
    made: dict[str, object] = {LICENCE: "MIT"}
    for probes, name in FOLDERS.items():
        kernel = small_kernel.build(OUT / name, probes).kernel
        made[name] = sizes(OUT / name, kernel, probes)
    KEPT.write_text(f"{json.dumps(made, indent=1)}\n", "utf-8")


if __name__ == "__main__":
    main()
