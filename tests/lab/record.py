# SPDX-License-Identifier: MIT
"""From nothing to a recording: kernel, module, initramfs, guest."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tests.lab import debs, guest, initramfs

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
KMOD = TOP / "kmod"


class Recording(NamedTuple):
    """What one run of the guest left behind."""

    kbl: Path
    pcap: Path
    counted: Path  # a KBL ended by -c 8
    lossy: Path  # a KBL whose reader was held up
    hidden: Path  # what kblrecord says where kernel addresses are hidden
    console: Path
    built: Path  # the copy of kmod/ with kbl.ko and kblrecord
    probes: Path  # the probe list made for this kernel


def build_module(kernel: debs.Kernel, folder: Path) -> Path:
    """Build kbl.ko and a static kblrecord in a copy of kmod/; returns the copy."""
    copy = folder / "kmod"
    shutil.rmtree(copy, ignore_errors=True)
    ignored = shutil.ignore_patterns("*.o", "*.ko", "*.mod*", ".*", "kblrecord")
    shutil.copytree(KMOD, copy, ignore=ignored)
    make = ["make", "-C", str(copy), f"KDIR={kernel.headers}", "CC=gcc-12"]
    debs.run(*make, "module", "W=1")
    debs.run(*make, "kblrecord", "LDFLAGS=-static", "CFLAGS=-O2 -g -Wall -Wextra -Werror")
    return copy


def build_traffic(folder: Path) -> Path:
    """Build the scenario's client and server."""
    program = folder / "traffic"
    source = str(HERE / "traffic.c")
    debs.run("gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-o", str(program), source)
    return program


def load_gen_probes() -> Any:
    """Return kmod/gen_probes.py as a module: it lies outside any package."""
    spec = importlib.util.spec_from_file_location("gen_probes", KMOD / "gen_probes.py")
    if spec is None or spec.loader is None:
        raise RuntimeError("kmod/gen_probes.py is missing")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def build_probes(kernel: debs.Kernel, folder: Path) -> Path:
    """Write the probe list for this kernel, from its BTF."""
    veth = next((kernel.modules / "lib/modules").rglob("veth.ko"))
    lines, _ = load_gen_probes().generate(KMOD / "probes.txt", kernel.image, {"veth": veth})
    probes = folder / "probes.txt"
    probes.write_text("\n".join(lines) + "\n")
    return probes


def record(folder: Path, init: Path = HERE / "init.sh", counted: bool = False) -> Recording:
    """Make a fresh recording below ``folder``; raises guest.GuestFailed or RuntimeError."""
    kernel = debs.fetch(folder)
    built = build_module(kernel, folder)
    programs = [built / "kblrecord", build_traffic(folder)]
    probes = build_probes(kernel, folder)
    parts = initramfs.Parts(init, built / "kbl.ko", programs, [probes, HERE / "few.txt"])
    out = guest.boot(kernel, initramfs.build(kernel, parts, folder), folder, counted)
    return Recording(
        kbl=out / "handshake.kbl",
        pcap=out / "handshake.pcap",
        counted=out / "counted.kbl",
        lossy=out / "lossy.kbl",
        hidden=out / "hidden.txt",
        console=folder / "console.txt",
        built=built,
        probes=probes,
    )
