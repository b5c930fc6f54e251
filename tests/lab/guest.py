# SPDX-License-Identifier: MIT
"""Boot the guest, wait for its end, take its files from the raw disk."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.lab.debs import Kernel, run
from tests.lab.initramfs import tool

DONE = "LAB DONE"
DISK_BYTES = 1 << 30  # sparse
TIMEOUT_S = 300
CPU = "max"
# Each copy from or to a user switches SMAP, and the emulator translates anew: an eighth of the
# guest's time.  The guests that misuse the module keep it.
FAST = "smap=off,pku=off"
# Booting changes the kernel's text too (static keys): seen once in some hundred boots.  See
# Run.patched; one more boot is tried, patched.
INT3 = "Oops: int3"
# After cmpxchg16b, QEMU 7.2 may use a register as the flags: EFLAGS was RAX plus the zero flag, and
# the guest died of a double fault when a timer interrupt returned.  Seen once in some thousand
# boots.  A processor's flags end at bit 21 (Intel SDM, volume 1, 3.4.3).
FLAGS = re.compile(r"EFLAGS: ([0-9a-f]{8})\b")

# A guest that waits for a CPU for milliseconds gives several lifetimes the time of a packet: ten of
# 15,519 packets were ambiguous when tests and compilers ran beside a guest.
FIRST = ("nice", "-n", "-5") if os.geteuid() == 0 else ()


class GuestFailed(RuntimeError):
    """The guest did not reach its end; the message holds its console."""


class Run(NamedTuple):
    """Return the command that runs the guest.

    steps: what init shall do, see tests/lab/init.sh; words: further NAME=VALUE for its scripts.
    devices: further arguments for QEMU.
    counted: the guest's clock advances a nanosecond an instruction, on one CPU, so that times
    tell of the guest and not of the machine that emulates it.
    patched: the kernel's text is changed under traffic.  Multi-threaded emulation before QEMU 8.1
    may still execute the breakpoint of a change that is over, and the guest dies of "int3" (LKML,
    July 2023: "qemu-x86_64 booting with 8.0.0 stil see int3"), or hangs: its memory had the nop of
    skb_set_owner_w() again while both CPUs executed the breakpoint for ever.  So one thread runs
    both CPUs.
    """

    steps: tuple[str, ...] = ("handshake",)
    words: tuple[str, ...] = ()
    counted: bool = False
    patched: bool = False
    timeout_s: int = TIMEOUT_S
    memory_mb: int = 768
    devices: tuple[str, ...] = ()


def command(kernel: Kernel, initramfs: Path, disk: Path, how: Run) -> list[str]:
    """Return the QEMU command line.  /dev/kvm may be there and not work: always tcg."""
    clock = ("-icount", "shift=0,sleep=off") if how.counted else ()
    words = " ".join([f"lab={','.join(how.steps)}", *how.words])
    return [
        str(tool("qemu-system-x86_64")),
        *(
            "-accel",
            "tcg,thread=single" if how.patched else "tcg",
            "-cpu",
            CPU if how.patched else f"{CPU},{FAST}",
            "-m",
            str(how.memory_mb),
        ),
        *("-smp", "1" if how.counted else "2"),
        *clock,
        *("-nodefaults", "-no-user-config", "-nographic", "-no-reboot", "-serial", "stdio"),
        *("-kernel", str(kernel.image), "-initrd", str(initramfs)),
        # A busy machine may hold up the emulated timer for longer than the kernel waits at boot.
        *("-append", f"console=ttyS0 panic=-1 quiet log_buf_len=4M no_timer_check {words}"),
        *("-drive", f"file={disk},format=raw,if=virtio"),
        *how.devices,
    ]


def boot(kernel: Kernel, initramfs: Path, folder: Path, how: Run | None = None) -> Path:
    """Run the guest to its end; returns the folder of its files.

    Raises GuestFailed with the console if it did not say that all went well.
    """
    how = how or Run()
    disk, out = folder / "disk.img", folder / "out"
    console = console_of(command(kernel, initramfs, disk, how), disk, folder, how.timeout_s)
    if DONE not in console and is_emulators_fault(console):
        # In one thread: on a busy machine, int3 came twice in a row.
        again = command(kernel, initramfs, disk, how._replace(patched=True))
        console = console_of(again, disk, folder, how.timeout_s)
    if DONE not in console:
        raise GuestFailed(f"the guest failed; its console:\n{console}")
    out.mkdir(exist_ok=True)
    run("tar", "-x", "-f", str(disk), "-C", str(out))
    disk.unlink()
    return out


def is_emulators_fault(console: str) -> bool:
    """Return whether a guest died of what no processor does."""
    return INT3 in console or any(int(flags, 16) >> 22 for flags in FLAGS.findall(console))


def console_of(line: list[str], disk: Path, folder: Path, timeout_s: int) -> str:
    """Run a guest on an empty disk; returns its console."""
    with disk.open("wb") as image:
        image.truncate(DISK_BYTES)
    said, late = folder / "console.txt", ""
    with said.open("wb") as file:
        try:
            subprocess.run([*FIRST, *line], stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                           timeout=timeout_s, check=False)  # fmt: skip
        except subprocess.TimeoutExpired:
            late = f"\nno end after {timeout_s} s"
    console = said.read_bytes().decode(errors="replace").replace("\r", "") + late
    said.write_text(console)
    return console
