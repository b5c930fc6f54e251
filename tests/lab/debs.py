# SPDX-License-Identifier: MIT
"""Debian's newest cloud kernels and their headers, unpacked in a private folder.

Nothing is installed and no version is pinned: apt names the newest.  Downloads are kept in
``folder/debs`` for the next time.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

# The kernels that Debian 12 ships, and the metapackages which depend on the newest of each.
METAS = {"6.1": "linux-image-cloud-amd64", "6.12": "linux-image-6.12-cloud-amd64"}


class Kernel(NamedTuple):
    """Where the unpacked parts of one kernel lie."""

    release: str
    image: Path
    modules: Path
    headers: Path


def run(*command: str, cwd: Path | None = None) -> str:
    """Run a command and return its output. Raises RuntimeError with the output if it fails."""
    done = subprocess.run(command, cwd=cwd, text=True, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def said(*command: str) -> str:
    """Run a command; return its output and errors. Raises RuntimeError with these."""
    both = subprocess.STDOUT
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=both, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}")
    return done.stdout


def dependency(package: str, pattern: str) -> str:
    """Return what `pattern` finds among the dependencies of a package; RuntimeError if nothing."""
    text = run("apt-cache", "depends", package)
    found = re.search(rf"Depends: {pattern}$", text, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"apt-cache knows no {pattern} under {package}; run apt-get update")
    return found[1]


def newest_release(series: str = "6.1") -> str:
    """Return the release of the kernel that the series' metapackage depends on."""
    return dependency(METAS[series], rf"linux-image-({re.escape(series)}\.\S+-cloud-amd64)")


def packages(release: str) -> list[str]:
    """Return the packages to unpack: image, headers, common headers, build tools."""
    headers = f"linux-headers-{release}"
    common = dependency(headers, r"(linux-headers-\S+-common)")
    kbuild = dependency(headers, r"(linux-kbuild-\S+)")
    return [f"linux-image-{release}", headers, common, kbuild]


def download(names: list[str], debs: Path) -> list[Path]:
    """Return the .deb of each package, fetched unless it is already there."""
    debs.mkdir(parents=True, exist_ok=True)
    missing = [p for p in names if not list(debs.glob(f"{p}_*.deb"))]
    if missing:
        run("apt-get", "-q", "download", *missing, cwd=debs)
    return [max(debs.glob(f"{p}_*.deb")) for p in names]


def unpack(debs: list[Path], tree: Path) -> None:
    """Unpack ``debs`` into ``tree``, which is emptied first."""
    run("rm", "-rf", str(tree))
    tree.mkdir(parents=True)
    for deb in debs:
        run("dpkg-deb", "-x", str(deb), str(tree))


def fetch(folder: Path, series: str = "6.1") -> Kernel:
    """Return the newest kernel of a series, downloaded and unpacked below ``folder``."""
    release = newest_release(series)
    image, headers, common, kbuild = packages(release)
    debs = download([image, headers, common, kbuild], folder / "debs")
    tree, stamp = folder / "root", folder / "unpacked"
    want = "\n".join(deb.name for deb in debs)
    if not stamp.exists() or stamp.read_text() != want:
        unpack(debs, tree)
        stamp.write_text(want)
    source = tree / "usr/src"
    # Debian's stub names the common headers by their installed path.
    target = source / common / "Makefile"
    (source / headers / "Makefile").write_text(f"include {target}\n")
    return Kernel(release, tree / f"boot/vmlinuz-{release}", tree, source / headers)
