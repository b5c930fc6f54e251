# SPDX-License-Identifier: MIT
"""Build the files for a guest of the zoo, and run it."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.lab import debs, guest, initramfs, instrumented, record
from tests.truth.layout import FOLDER
from tests.truth.scenarios import ZOO, Scenario

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
TOOLS = ("tcpdump", "ip", "kmod", "tc", "bridge", "ethtool", "iptables-legacy", "wg")
LISTS = ("probes", "fifty", "some")
BOOT_S, SCENARIO_S = 120, 120  # patience
COMPILED_IN = "6.1-compiled-in"  # the lab's kernel that carries its probes
SERIES = (*debs.METAS, COMPILED_IN)


class Kit(NamedTuple):
    """What was built for one kernel.  patched: see guest.Run."""

    kernel: debs.Kernel
    folder: Path
    module: Path
    witness: Path
    programs: list[Path]
    lists: list[Path]
    patched: bool = False


class How(NamedTuple):
    """How a guest runs its scenarios.

    only: "with" or "without" the witness; "both" runs them twice.  counted: see guest.Run.
    less: this part of the traffic, 1/less, is sent.
    """

    only: str = "both"
    counted: bool = False
    less: int = 1


def build_programs(folder: Path) -> list[Path]:
    """Build the zoo's own programs, static."""
    made = []
    for source in sorted(PROGRAMS.glob("*.c")):
        debs.run("gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-static",
                 "-o", str(folder / source.stem), str(source))  # fmt: skip
        made.append(folder / source.stem)
    return made


def build_witness(kernel: debs.Kernel, folder: Path) -> Path:
    """Build the witness; returns witness.ko."""
    copy = record.copy_sources(HERE / "witness", folder / "witness")
    debs.run("make", "-C", str(copy), f"KDIR={kernel.headers}", "CC=gcc-12", "W=1")
    return copy / "witness.ko"


def sources(release: str) -> str:
    """Return a hash of the files that take long to build for a kernel."""
    found = hashlib.sha256(release.encode())
    for folder in (record.KMOD, HERE / "witness"):
        for path in sorted(folder.glob("*.[ch]")) + sorted(folder.glob("probes.txt")):
            found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()


def kit(series: str) -> Kit:
    """Fetch the kernel and build what its guests need, unless that is there already."""
    folder = FOLDER / "lab" / series
    if series == COMPILED_IN:
        return _compiled_in(folder)
    kernel = debs.fetch(folder, series)
    stamp, now = folder / "built", sources(kernel.release)
    if not stamp.exists() or stamp.read_text() != now:
        record.build_module(kernel, folder)
        record.build_probes(kernel, folder)
        build_witness(kernel, folder)
        stamp.write_text(now)
    programs = build_programs(folder)
    return Kit(kernel, folder, folder / "kmod/kbl.ko", folder / "witness/witness.ko",
               [folder / "kmod/kblrecord", *programs],
               [HERE / "lone.txt", *(folder / f"{name}.txt" for name in LISTS)])  # fmt: skip


def _compiled_in(folder: Path) -> Kit:
    """Build the small kernel with probes in its source, and what its guests need."""
    _, built = instrumented.prepare(folder)
    witness = build_witness(built.kernel, folder)
    programs = [folder / "kmod/kblrecord", *build_programs(folder)]
    return Kit(built.kernel, folder, folder / "kmod/kbl.ko", witness, programs,
               [built.lists["probes"]], patched=True)  # fmt: skip


def pack(kit: Kit, wanted: list[Scenario]) -> Path:
    """Return the initramfs for these scenarios."""
    folder = kit.folder / "guest"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    scripts = {"steps.sh": HERE / "steps.sh", "witness.ko": kit.witness}
    for scenario in wanted:
        words = folder / f"{scenario.name}.words"
        words.write_text(scenario.words())
        scripts[f"zoo/{scenario.name}.sh"] = scenario.script
        scripts[f"zoo/{scenario.name}.words"] = words
    known = wanted if kit.patched else ZOO  # the small kernel has few modules
    modules = tuple(dict.fromkeys(module for scenario in known for module in scenario.modules))
    parts = initramfs.Parts(
        HERE / "init.sh", kit.module, kit.programs, kit.lists,
        scripts=tuple(scripts.items()), extra=initramfs.Needs(TOOLS, modules),
    )  # fmt: skip
    return initramfs.build(kit.kernel, parts, folder)


def boot(kit: Kit, wanted: list[Scenario], how: How) -> tuple[Path, str]:
    """Run these scenarios in one guest; return the folder of their files, and the console."""
    folder = kit.folder / "guest"
    image, disk = pack(kit, wanted), folder / "disk.img"
    names = ",".join(scenario.name for scenario in wanted)
    words = (f"zoo={names}", f"pass={how.only}", f"less={how.less}")
    devices = dict.fromkeys(scenario.devices for scenario in wanted)
    patched = kit.patched or any(scenario.patched for scenario in wanted)
    run = guest.Run((), words, how.counted, patched, memory_mb=2048,
                    timeout_s=BOOT_S + SCENARIO_S * len(wanted),
                    devices=tuple(word for one in devices for word in one))  # fmt: skip
    line = guest.command(kit.kernel, image, disk, run)
    console = guest.console_of(line, disk, folder, run.timeout_s)
    left = folder / "left"
    left.mkdir()
    # One archive behind the other; the last may be cut off.
    subprocess.run(["tar", "-x", "-i", "-f", str(disk), "-C", str(left)], check=False,
                   capture_output=True)  # fmt: skip
    disk.unlink()
    return left, console
