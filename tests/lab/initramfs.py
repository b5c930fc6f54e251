# SPDX-License-Identifier: MIT
"""The guest's root: busybox, a few tools of this machine, modules, our programs."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.lab.debs import Kernel, run

TOOLS = ("tcpdump", "ip", "kmod")
MODULES = ("veth", "virtio_pci", "virtio_blk")
SEARCH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


class Parts(NamedTuple):
    """What goes into the guest besides the tools."""

    init: Path
    module: Path
    programs: list[Path]
    lists: list[Path]


def tool(name: str) -> Path:
    """Return the path of an installed program; raises RuntimeError if it is missing."""
    found = shutil.which(name, path=SEARCH)
    if found is None:
        raise RuntimeError(f"{name} is missing; install the packages of tests/lab/packages.txt")
    return Path(found)


def place(source: Path, target: Path) -> None:
    """Copy one file, with the folders above it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def add_tool(name: str, root: Path) -> None:
    """Copy a program and the libraries it is linked with."""
    path = tool(name)
    place(path, root / "bin" / name)
    for library in re.findall(r"(?<=\s)/\S+", run("ldd", str(path))):
        place(Path(library), root / library.lstrip("/"))


def add_modules(kernel: Kernel, root: Path) -> None:
    """Copy the kernel modules and what they depend on, and index them."""
    depmod, modprobe = str(tool("depmod")), str(tool("modprobe"))
    run(depmod, "-b", str(kernel.modules), kernel.release)
    folder = Path("lib/modules") / kernel.release
    for name in MODULES:
        shown = run(modprobe, "-n", "--show-depends", "-d", str(kernel.modules),
                    "-S", kernel.release, name)  # fmt: skip
        for path in re.findall(r"^insmod (\S+)", shown, re.MULTILINE):
            place(Path(path), root / Path(path).relative_to(kernel.modules))
    for index in ("modules.builtin", "modules.order"):
        place(kernel.modules / folder / index, root / folder / index)
    run(depmod, "-b", str(root), kernel.release)


def build(kernel: Kernel, parts: Parts, folder: Path) -> Path:
    """Return the compressed initramfs, made anew below ``folder``."""
    root = folder / "initramfs"
    shutil.rmtree(root, ignore_errors=True)
    for name in TOOLS:
        add_tool(name, root)
    for name in ("modprobe", "insmod", "rmmod"):
        (root / "bin" / name).symlink_to("kmod")
    place(tool("busybox"), root / "bin/busybox")
    (root / "bin/sh").symlink_to("busybox")
    place(parts.init, root / "init")
    (root / "init").chmod(0o755)
    place(parts.module, root / "kbl.ko")
    for path in (*parts.programs, *parts.lists):
        place(path, root / path.name)
    (root / "etc").mkdir()
    (root / "etc/passwd").write_text("root:x:0:0:root:/:/bin/sh\n")
    add_modules(kernel, root)
    return pack(root, folder / "initramfs.gz")


def pack(root: Path, target: Path) -> Path:
    """Write ``root`` as a compressed cpio archive."""
    names = "\n".join(str(p.relative_to(root)) for p in sorted(root.rglob("*")))
    command = [str(tool("cpio")), "-o", "-H", "newc", "--quiet"]
    done = subprocess.run(command, cwd=root, input=names.encode(), capture_output=True, check=True)
    target.write_bytes(gzip.compress(done.stdout, 1))
    return target
