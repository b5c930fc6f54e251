# SPDX-License-Identifier: MIT
"""``python -m tests.causes.record``: provoke causes in guests, and record them.

Each scenario is recorded with several seeds, which draw its parameters.  A recording that is whole
is not made again.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

from tests.lab import debs, guest, initramfs
from tests.truth import guests

from .scenarios import PROVOKED, named

HERE = Path(__file__).resolve().parent
RECORDINGS = HERE.parents[1] / "build/causes"
TOOLS = (*guests.TOOLS, "iptables-legacy-restore")
PROGRAMS = ("faulting", "hog", "realtime")
MORE_PROBES = ("nf_conntrack_in",)
PER_BOOT, BOOT_S, RUN_S = 20, 120, 300  # patience, also if others use the machine
Run = tuple[str, int]  # scenario, seed


def place(series: str, run: Run) -> Path:
    """Return the folder of one recording."""
    return RECORDINGS / series / f"{run[0]}.{run[1]}"


def pack(kit: guests.Kit, runs: list[Run], folder: Path) -> Path:
    """Return the initramfs for these runs."""
    probes = folder / "causes.txt"
    known = (kit.folder / "probes.txt").read_text()
    more = [name for name in MORE_PROBES if f"\n{name}" not in known]
    probes.write_text(known + "".join(f"{name} skb@0\n" for name in more))
    scripts = {"steps.sh": guests.HERE / "steps.sh"}
    scenarios = [named(name) for name in dict.fromkeys(name for name, _ in runs)]
    for scenario in scenarios:
        words = folder / f"{scenario.name}.words"
        words.write_text(scenario.words())
        scripts[f"causes/{scenario.name}.sh"] = scenario.script
        scripts[f"causes/{scenario.name}.words"] = words
    modules = tuple(dict.fromkeys(module for one in scenarios for module in one.modules))
    programs = [*kit.programs, *(build_program(name, folder) for name in PROGRAMS)]
    parts = initramfs.Parts(
        HERE / "init.sh", kit.module, programs, [probes],
        scripts=tuple(scripts.items()), extra=initramfs.Needs(TOOLS, modules),
    )  # fmt: skip
    return initramfs.build(kit.kernel, parts, folder)


def build_program(name: str, folder: Path) -> Path:
    """Build a program of programs/, static."""
    program, source = folder / name, HERE / "programs" / f"{name}.c"
    warn = ("-Wall", "-Wextra", "-Werror", "-pthread")
    debs.run("gcc", "-O2", *warn, "-static", "-o", str(program), str(source))
    return program


def boot(kit: guests.Kit, series: str, runs: list[Run]) -> list[Run]:
    """Make these recordings in one guest; returns those that failed."""
    folder = RECORDINGS / "guest" / series
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    image, disk = pack(kit, runs, folder), folder / "disk.img"
    words = (f"runs={','.join(f'{name}.{seed}' for name, seed in runs)}",)
    how = guest.Run((), words, True, memory_mb=2048, timeout_s=BOOT_S + RUN_S * len(runs))
    line = guest.command(kit.kernel, image, disk, how)
    console = guest.console_of(line, disk, folder, how.timeout_s)
    (folder / "console").write_text(console)
    left = folder / "left"
    left.mkdir()
    command = ["tar", "-x", "-i", "-f", str(disk), "-C", str(left)]  # the last may be cut off
    subprocess.run(command, check=False, capture_output=True)
    disk.unlink()
    return [run for run in runs if not _settle(left / f"{run[0]}.{run[1]}", place(series, run))]


def _settle(found: Path, target: Path) -> bool:
    if not (found / "whole").exists():
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(target, ignore_errors=True)
    found.rename(target)
    return True


def main() -> int:
    """Record what is missing; returns 1 if a run failed."""
    parser = argparse.ArgumentParser(prog="tests.causes.record", description=__doc__)
    parser.add_argument("--series", nargs="+", choices=tuple(debs.METAS), default=["6.12"])
    parser.add_argument("--scenario", nargs="+", default=[one.name for one in PROVOKED])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--again", action="store_true", help="also what is recorded already")
    args = parser.parse_args()
    failed: list[Run] = []
    for series in args.series:
        runs = list(product(args.scenario, range(1, args.seeds + 1)))
        runs = [run for run in runs if args.again or not (place(series, run) / "whole").exists()]
        kit = guests.kit(series) if runs else None
        for first in range(0, len(runs), PER_BOOT):
            assert kit is not None
            failed += boot(kit, series, runs[first : first + PER_BOOT])
    for name, seed in failed:
        print(f"FAILED: {name}, seed {seed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
