# SPDX-License-Identifier: MIT
"""Header trees of Debian kernels, of other architectures too, in a private folder.

apt gets lists of its own below the folder, which know two architectures; the machine's apt is
not touched and nothing is installed.  The build tools (linux-kbuild) are always this machine's.
"""

from __future__ import annotations

import functools
import re
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

LISTS_ARE_FRESH_S = 12 * 3600


class Variant(NamedTuple):
    """A kernel to build for, by the name of Debian's newest headers of it."""

    meta: str
    arch: str  # Debian's name

    def make_arguments(self) -> list[str]:
        """Return what make needs to build for it on an amd64 machine."""
        if self.arch == "arm64":
            return ["ARCH=arm64", "CROSS_COMPILE=aarch64-linux-gnu-"]
        return ["CC=gcc-12"]


VARIANTS = (
    Variant("linux-headers-rt-amd64", "amd64"),
    Variant("linux-headers-6.12-rt-amd64", "amd64"),
    Variant("linux-headers-arm64", "arm64"),
    Variant("linux-headers-6.12-arm64", "arm64"),
)


def run(*command: str, cwd: Path | None = None) -> str:
    """Run a command and return its output. Raises RuntimeError with the output if it fails."""
    done = subprocess.run(command, cwd=cwd, text=True, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


class PrivateApt:
    """apt with lists of its own in ``folder``, for amd64 and arm64."""

    def __init__(self, folder: Path) -> None:
        """Make the folders, and fetch the lists if they are missing or old."""
        self.options = (
            *("-o", "APT::Architecture=amd64", "-o", "APT::Architectures=amd64,arm64"),
            *("-o", f"Dir::State::lists={folder / 'lists'}", "-o", f"Dir::Cache={folder}/cache"),
            *("-o", "Dir::State::status=/dev/null", "-o", "Acquire::Languages=none"),
        )
        stamp = folder / "updated"
        if stamp.exists() and time.time() - stamp.stat().st_mtime < LISTS_ARE_FRESH_S:
            return
        for part in ("lists/partial", "cache/archives/partial"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        run("apt-get", *self.options, "-q", "update")
        stamp.touch()

    def depends(self, package: str) -> list[str]:
        """Return the names of the packages that ``package`` depends on, without architecture."""
        text = run("apt-cache", *self.options, "depends", package)
        return re.findall(r"Depends: <?([^\s:>]+)", text)

    def download(self, packages: list[str], debs: Path) -> list[Path]:
        """Return the .deb of each "name:architecture", fetched unless it is already there."""
        debs.mkdir(parents=True, exist_ok=True)
        patterns = [f"{name}_*_{arch}.deb" for name, arch in (p.split(":") for p in packages)]
        missing = [p for p, q in zip(packages, patterns, strict=True) if not list(debs.glob(q))]
        if missing:
            run("apt-get", *self.options, "-q", "download", *missing, cwd=debs)
        return [max(debs.glob(pattern)) for pattern in patterns]


@functools.cache
def apt(folder: Path) -> PrivateApt:
    """Return the apt of ``folder``, its lists fetched at most once a run."""
    return PrivateApt(folder)


def one(names: list[str], pattern: str) -> str:
    """Return the only name that fits; raises RuntimeError if there is none."""
    found = [name for name in names if re.fullmatch(pattern, name)]
    if not found:
        raise RuntimeError(f"no {pattern} among {names}")
    return found[0]


def fetch(variant: Variant, folder: Path) -> Path:
    """Return the tree to give to make as KDIR, of the newest headers of ``variant``."""
    source = apt(folder / "apt")
    headers = one(source.depends(f"{variant.meta}:{variant.arch}"), r"linux-headers-\d.*")
    needs = source.depends(f"{headers}:{variant.arch}")
    common, kbuild = one(needs, r"linux-headers-.*-common.*"), one(needs, r"linux-kbuild-.*")
    packages = [f"{headers}:{variant.arch}", f"{common}:all", f"{kbuild}:amd64"]
    debs = source.download(packages, folder / "debs")
    tree, stamp = folder / headers, folder / f"{headers}.unpacked"
    want = "\n".join(deb.name for deb in debs)
    if not stamp.exists() or stamp.read_text() != want:
        run("rm", "-rf", str(tree))
        for deb in debs:
            run("dpkg-deb", "-x", str(deb), str(tree))
        stamp.write_text(want)
    # Debian's stub names the common headers by their installed path.
    kdir = tree / "usr/src" / headers
    (kdir / "Makefile").write_text(f"include {tree / 'usr/src' / common / 'Makefile'}\n")
    return kdir
