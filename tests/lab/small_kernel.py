# SPDX-License-Identifier: MIT
"""A small kernel of Debian's source, plain or with the probes of ``skbscan instrument`` in it.

The source is that of the newest linux-source-6.1 that apt names; see small-kernel.config.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tests.lab import debs
from tests.lab.record import TOP

CONFIG = Path(__file__).resolve().parent / "small-kernel.config"
PACKAGE = "linux-source-6.1"
FOLDERS = ("net/core", "net/ipv4", "net/ipv6", "net/sched", "net/netfilter")
UNUSED = ("drivers/gpu", "drivers/media", "drivers/staging", "sound")  # 400 MB of C
COMPILER = ("CC=gcc-12", "HOSTCC=gcc-12")
PROBES = (*(TOP / "scanner").rglob("*.py"), *(TOP / "kmod/instrument").glob("*"))


class Small(NamedTuple):
    """A built kernel, and the output of its compiler."""

    kernel: debs.Kernel
    said: str


def unpack(deb: Path, tree: Path) -> Path:
    """Unpack the kernel's source except UNUSED into ``tree``, which is emptied first."""
    shutil.rmtree(tree, ignore_errors=True)
    packed = tree.with_name(f"{tree.name}.packed")
    shutil.rmtree(packed, ignore_errors=True)
    tree.parent.mkdir(parents=True, exist_ok=True)
    debs.run("dpkg-deb", "-x", str(deb), str(packed))
    tree.mkdir(parents=True)
    tar = str(packed / "usr/src" / f"{PACKAGE}.tar.xz")
    unused = [f"--exclude=*/{folder}/*.[ch]" for folder in UNUSED]
    debs.run("tar", "-xf", tar, "-C", str(tree), "--strip-components=1", *unused)
    shutil.rmtree(packed)
    return tree


def skbscan(*arguments: str | Path) -> None:
    """Run the command as a user would. Raises RuntimeError with its output if it fails."""
    program = Path(sys.executable).with_name("skbscan")
    debs.run(str(program), *map(str, arguments))


def instrument(tree: Path, folder: Path) -> None:
    """Put probes and their runtime into a tree, and the manifest into ``folder``."""
    where = [word for name in FOLDERS for word in ("--dir", name)]
    how = ("--in-place", "--runtime", "--manifest", folder / "manifest.json")
    skbscan("instrument", tree, *where, *how, "-q", "--no-cache")


def manifest(folder: Path) -> list[dict[str, Any]]:
    """Return the functions that have probes."""
    functions: list[dict[str, Any]] = json.loads((folder / "manifest.json").read_text())[
        "functions"
    ]
    return functions


def carriers(row: dict[str, Any]) -> list[str]:
    """Return those of a function's carriers that a probe list names: a sock only by itself."""
    packets = [place for place in row["carriers"] if not place.startswith("sock@")]
    return packets or row["carriers"]


def symbols(kernel: debs.Kernel) -> set[str]:
    """Return the names of a kernel's functions."""
    lines = (kernel.headers / "System.map").read_text().splitlines()
    return {line.split()[2] for line in lines if line.split()[1] in "tT"}


def make(tree: Path, build: Path, *targets: str) -> str:
    """Run the kernel's make; return its output."""
    where = ("make", "-s", f"-j{os.cpu_count() or 1}", "-C", str(tree), f"O={build}")
    return debs.said(*where, *COMPILER, *targets)


def compile_kernel(tree: Path, build: Path) -> str:
    """Configure and build a kernel; return the output of both steps."""
    build.mkdir(parents=True, exist_ok=True)
    make(tree, build, "tinyconfig")
    merge = str(tree / "scripts/kconfig/merge_config.sh")
    debs.run(merge, "-m", "-O", str(build), str(build / ".config"), str(CONFIG), cwd=tree)
    make(tree, build, "olddefconfig")
    missing = set(wanted()) - set((build / ".config").read_text().splitlines())
    if missing:
        raise RuntimeError(f"{CONFIG.name}: the kernel takes no {sorted(missing)}")
    return make(tree, build, "bzImage", "modules")


def wanted() -> list[str]:
    """Return the lines of small-kernel.config that set something."""
    return [line for line in CONFIG.read_text().splitlines() if line.startswith("CONFIG_")]


def finish(tree: Path, build: Path, folder: Path) -> debs.Kernel:
    """Install the lists of what is built in below ``folder``; returns the kernel."""
    root = folder / "root"
    shutil.rmtree(root, ignore_errors=True)
    make(tree, build, f"INSTALL_MOD_PATH={root}", "modules_install")
    release = (build / "include/config/kernel.release").read_text().strip()
    return debs.Kernel(release, build / "arch/x86/boot/bzImage", root, build)


def fingerprint(deb: Path, probes: bool) -> str:
    """Return what must be alike for a kernel not to be built again."""
    files = [CONFIG, *(sorted(PROBES) if probes else ())]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files))
    return f"{deb.name} {digest.hexdigest()}\n"


def build(folder: Path, probes: bool) -> Small:
    """Return the small kernel, with probes or plain, built below ``folder`` unless it is there."""
    folder.mkdir(parents=True, exist_ok=True)
    deb = debs.download([PACKAGE], folder / "debs")[0]
    tree, out = folder / "linux", folder / "build"
    stamp, log, want = folder / "built", folder / "make.txt", fingerprint(deb, probes)
    if not stamp.exists() or stamp.read_text() != want:
        stamp.unlink(missing_ok=True)
        unpack(deb, tree)
        if probes:
            instrument(tree, folder)
        shutil.rmtree(out, ignore_errors=True)
        log.write_text(compile_kernel(tree, out))
        stamp.write_text(want)
    return Small(finish(tree, out, folder), log.read_text())
