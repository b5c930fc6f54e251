# SPDX-License-Identifier: MIT
"""Debian's newest 6.1 cloud kernel and its headers, unpacked in a private folder.

Nothing is installed.  Downloads are kept in ``folder/debs`` for the next time.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

META = "linux-image-cloud-amd64"


class Kernel(NamedTuple):
    """Where the unpacked parts of one kernel lie."""

    release: str
    image: Path
    modules: Path
    headers: Path


def run(*command: str, cwd: Path | None = None) -> str:
    """Run a command; raises RuntimeError with all it said if it fails."""
    done = subprocess.run(command, cwd=cwd, text=True, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def newest_release() -> str:
    """Return the release of the kernel that the metapackage depends on."""
    text = run("apt-cache", "depends", META)
    found = re.search(r"Depends: linux-image-(6\.1\.0-\d+-cloud-amd64)$", text, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"apt-cache knows no 6.1 kernel under {META}; run apt-get update")
    return found[1]


def download(packages: list[str], debs: Path) -> list[Path]:
    """Return the .deb of each package, fetched unless it is already there."""
    debs.mkdir(parents=True, exist_ok=True)
    missing = [p for p in packages if not list(debs.glob(f"{p}_*.deb"))]
    if missing:
        run("apt-get", "-q", "download", *missing, cwd=debs)
    return [max(debs.glob(f"{p}_*.deb")) for p in packages]


def unpack(debs: list[Path], tree: Path) -> None:
    """Unpack ``debs`` into ``tree``, which is made anew."""
    run("rm", "-rf", str(tree))
    tree.mkdir(parents=True)
    for deb in debs:
        run("dpkg-deb", "-x", str(deb), str(tree))


def fetch(folder: Path) -> Kernel:
    """Return the newest kernel, downloaded and unpacked below ``folder``."""
    release = newest_release()
    common = release.removesuffix("-cloud-amd64") + "-common"
    headers = f"linux-headers-{release}"
    names = [f"linux-image-{release}", headers, f"linux-headers-{common}", "linux-kbuild-6.1"]
    debs = download(names, folder / "debs")
    tree, stamp = folder / "root", folder / "unpacked"
    want = "\n".join(deb.name for deb in debs)
    if not stamp.exists() or stamp.read_text() != want:
        unpack(debs, tree)
        stamp.write_text(want)
    source = tree / "usr/src"
    # Debian's stub names the common headers by their installed path.
    target = source / f"linux-headers-{common}" / "Makefile"
    (source / headers / "Makefile").write_text(f"include {target}\n")
    return Kernel(release, tree / f"boot/vmlinuz-{release}", tree, source / headers)
