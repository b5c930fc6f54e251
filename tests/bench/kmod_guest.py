# SPDX-License-Identifier: MIT
"""The guest that measures: built once a kernel, booted once a line of the table."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.bench import kmod_lists
from tests.lab import debs, initramfs

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
KMOD = TOP / "kmod"
TOOLS = ("ip", "kmod", "iperf3", "ping", "tcpdump", "ethtool")
MODULES = ("veth", "virtio_pci", "virtio_blk", "ext4", "crc32c_generic")
DONE = "BENCH DONE"
DISK_MIB = 1024
MEMORY_MIB = 1024
TIMEOUT_S = 900
# 1 << SHIFT nanoseconds of the guest's time an instruction.
SHIFT = 2
INSTRUCTIONS_PER_S = 1_000_000_000 >> SHIFT


# It copies by rep movsb, which counts an instruction a byte: see docs/overhead.md.
CPU = "max"


class GuestFailed(RuntimeError):
    """The guest did not reach its end; the message holds its console."""


class Guest(NamedTuple):
    """What is booted for each line."""

    kernel: debs.Kernel
    initramfs: Path
    folder: Path


class Boot(NamedTuple):
    """One line of the table, as the guest's init takes it."""

    kind: str
    functions: str  # name of a list: 50, 500, all
    seconds: int
    pings: int
    module: str = ""  # more module parameters, joined by commas
    cpu: str = CPU


def build_module(kernel: debs.Kernel, folder: Path, source: Path = KMOD) -> Path:
    """Build kbl.ko and a static kblrecord in a copy of ``source``; returns the copy."""
    copy = folder / "kmod"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("*.o", "*.ko", "*.mod*", ".*"))
    make = ["make", "-C", str(copy), f"KDIR={kernel.headers}", "CC=gcc-12"]
    debs.run(*make, "module", "CONFIG_DEBUG_INFO_BTF_MODULES=")
    debs.run(*make, "kblrecord", "LDFLAGS=-static")
    return copy


def pack(
    kernel: debs.Kernel,
    built: Path,
    lists: dict[str, Path],
    folder: Path,
    modules: tuple[str, ...] = MODULES,
) -> Path:
    """Build the initramfs below ``folder`` and return it."""
    root = folder / "initramfs"
    shutil.rmtree(root, ignore_errors=True)
    for name in TOOLS:
        initramfs.add_tool(name, root)
    for name in ("modprobe", "insmod", "rmmod"):
        (root / "bin" / name).symlink_to("kmod")
    initramfs.place(initramfs.tool("busybox"), root / "bin/busybox")
    (root / "bin/sh").symlink_to("busybox")
    initramfs.place(HERE / "kmod_init.sh", root / "init")
    (root / "init").chmod(0o755)
    # The recorder takes the quiet probes that tell of lives from the list beside it.
    for path in (built / "kbl.ko", built / "kblrecord", *built.glob("probes-*.txt")):
        initramfs.place(path, root / path.name)
    for name, path in lists.items():
        initramfs.place(path, root / f"list-{name}")
    (root / "etc").mkdir()
    (root / "etc/passwd").write_text("root:x:0:0:root:/:/bin/sh\n")
    initramfs.add_modules(kernel, modules, root)
    return initramfs.pack(root, folder / "initramfs.cpio")


def build(series: str, folder: Path, source: Path = KMOD) -> Guest:
    """Build a guest with the newest kernel of a series below ``folder``, and return it."""
    kernel = debs.fetch(folder, series)
    built = build_module(kernel, folder, source)
    lists = kmod_lists.write(kernel, folder)
    return Guest(kernel, pack(kernel, built, lists, folder), folder)


def built(series: str, folder: Path) -> Guest:
    """Return the guest that build() made the last time."""
    return Guest(debs.fetch(folder, series), folder / "initramfs.cpio", folder)


def make_disk(path: Path) -> Path:
    """Make an empty ext4 file system in a sparse file."""
    path.unlink(missing_ok=True)
    debs.run(str(initramfs.tool("mke2fs")), "-q", "-t", "ext4", str(path), f"{DISK_MIB}M")
    return path


def command(guest: Guest, boot: Boot, disk: Path, more: tuple[str, ...] = ()) -> list[str]:
    """Return QEMU's command line: one CPU whose clock counts instructions."""
    words = (f"bench={boot.kind} list={boot.functions} seconds={boot.seconds} "
             f"pings={boot.pings} module={boot.module}")  # fmt: skip
    return [
        str(initramfs.tool("qemu-system-x86_64")),
        *("-accel", "tcg", "-cpu", boot.cpu, "-m", str(MEMORY_MIB), "-smp", "1"),
        *("-icount", f"shift={SHIFT},sleep=off", "-rtc", "clock=vm"),
        *("-nodefaults", "-no-user-config", "-nographic", "-no-reboot", "-serial", "stdio"),
        *("-kernel", str(guest.kernel.image), "-initrd", str(guest.initramfs)),
        *("-append", f"console=ttyS0 panic=-1 quiet nokaslr {words}"),
        *("-drive", f"file={disk},format=raw,if=virtio"),
        *more,
    ]


def run(guest: Guest, boot: Boot, name: str, more: tuple[str, ...] = ()) -> str:
    """Boot for one line; returns the console.  Raises GuestFailed with it."""
    disk = make_disk(guest.folder / "disk.img")
    line = command(guest, boot, disk, more)
    try:
        done = subprocess.run(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False)  # fmt: skip
        said = done.stdout
    except subprocess.TimeoutExpired as late:
        said = (late.stdout or b"") + f"\nno end after {TIMEOUT_S} s".encode()
    console = said.decode(errors="replace").replace("\r", "")
    (guest.folder / f"{name}.console.txt").write_text(console)
    if DONE not in console:
        raise GuestFailed(f"the guest of {name} failed; its console:\n{console[-4000:]}")
    return console
