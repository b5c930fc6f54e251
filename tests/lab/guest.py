# SPDX-License-Identifier: MIT
"""Boot the guest, wait for its end, take its files from the raw disk."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.lab.debs import Kernel, run
from tests.lab.initramfs import tool

DONE = "LAB DONE"
DISK_BYTES = 64 << 20
TIMEOUT_S = 300


class GuestFailed(RuntimeError):
    """The guest did not reach its end; the message holds its console."""


def command(kernel: Kernel, initramfs: Path, disk: Path, counted: bool) -> list[str]:
    """Return the QEMU command line.  /dev/kvm may be there and not work: always tcg.

    `counted`: the guest's clock advances a nanosecond an instruction, on one CPU, so that times
    tell of the guest and not of the machine that emulates it.
    """
    clock = ("-icount", "shift=0,sleep=off") if counted else ()
    return [
        str(tool("qemu-system-x86_64")),
        *("-accel", "tcg", "-cpu", "max", "-m", "768", "-smp", "1" if counted else "2"),
        *clock,
        *("-nodefaults", "-no-user-config", "-nographic", "-no-reboot", "-serial", "stdio"),
        *("-kernel", str(kernel.image), "-initrd", str(initramfs)),
        *("-append", "console=ttyS0 panic=-1 quiet"),
        *("-drive", f"file={disk},format=raw,if=virtio"),
    ]


def boot(kernel: Kernel, initramfs: Path, folder: Path, counted: bool = False) -> Path:
    """Run the guest to its end; returns the folder of its files.

    Raises GuestFailed with the console if it did not say that all went well.
    """
    disk, out = folder / "disk.img", folder / "out"
    with disk.open("wb") as image:
        image.truncate(DISK_BYTES)
    line = command(kernel, initramfs, disk, counted)
    try:
        done = subprocess.run(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False)  # fmt: skip
        said = done.stdout
    except subprocess.TimeoutExpired as late:
        said = (late.stdout or b"") + f"\nno end after {TIMEOUT_S} s".encode()
    console = said.decode(errors="replace").replace("\r", "")
    (folder / "console.txt").write_text(console)
    if DONE not in console:
        raise GuestFailed(f"the guest failed; its console:\n{console}")
    out.mkdir(exist_ok=True)
    run("tar", "-x", "-f", str(disk), "-C", str(out))
    return out
