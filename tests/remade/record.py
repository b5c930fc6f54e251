# SPDX-License-Identifier: MIT
"""Record what docs/remade.md shows beside the bundled recordings: python -m tests.remade.record.

The guest's clock counts instructions.  What is kept goes to tests/remade/recorded/.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from tests.lab import debs, guest
from tests.lab.events import guest_events
from tests.lab.record import TOP, Built, prepare, run

from .every_call import COUNTED, MADE, RECORDING
from .kept import SIZES, CaptureClock, keep

GUEST = Path(__file__).resolve().parent / "guest"
PROGRAMS = ("wall_clock", "round_trip")
LISTS = ("experiment-6", "layers")
WARN = ("-Wall", "-Wextra", "-Werror")
TIMEOUT_S = 1800
CAPTURE = "late-clock.pcap"
UNUSED = ("dmesg.txt", "warm-up.rounds")


def build_program(name: str, folder: Path) -> Path:
    """Compile one of the guest's own programs, static; return it."""
    program = folder / name
    debs.run("gcc", "-O2", *WARN, "-static", "-o", str(program), str(GUEST / f"{name}.c"))
    return program


def other_host(capture: Path) -> tuple[str, ...]:
    """Return QEMU's options for a network device whose other end is QEMU, which also captures."""
    hosts = "net=10.9.0.0/24,host=10.9.0.2,restrict=on,guestfwd=tcp:10.9.0.100:7-cmd:cat"
    return (
        *("-netdev", f"user,id=n0,{hosts}", "-device", "virtio-net-pci,netdev=n0"),
        *("-object", f"filter-dump,id=f0,netdev=n0,file={capture}"),
        *("-rtc", f"base={CaptureClock.BEGIN},clock=vm"),
    )


def with_programs(built: Built) -> Built:
    """Return the kernel's guest with the programs and lists of this folder."""
    lists = {name: GUEST / f"{name}.txt" for name in LISTS}
    programs = [build_program(name, built.folder) for name in PROGRAMS]
    return built._replace(programs=[*built.programs, *programs], lists={**built.lists, **lists})


def record(built: Built) -> Path:
    """Run the guest; return the folder of its files.  Raises guest.GuestFailed or RuntimeError."""
    capture = built.folder / CAPTURE
    words = (
        f"base={CaptureClock.begin_s()}",
        f"behind={CaptureClock.BEHIND_S}",
        f"sizes={','.join(map(str, SIZES))}",
        "lists=layers,probes",
    )
    steps = ("late-clock", "control-file", "round-trips")
    how = guest.Run(steps, words, True, timeout_s=TIMEOUT_S, devices=other_host(capture))
    out = run(with_programs(built), how, "remade")
    shutil.copy(capture, out / CAPTURE)
    return out


def kept_files(out: Path) -> list[Path]:
    """Return those of a guest's files that the tables need."""
    return [path for path in sorted(out.iterdir()) if path.name not in UNUSED]


def every_call(built: Built) -> list[Path]:
    """Run the guest that makes known system calls; return the files that the table needs.

    Raises guest.GuestFailed or RuntimeError.
    """
    out = guest_events.run(built, ("everycall",)) / "recordedcalls"
    names = {"calls.kbl": RECORDING, "enter": COUNTED, "calls": MADE}
    return [Path(shutil.copy(out / name, out / kept)) for name, kept in names.items()]


def main() -> None:
    """Record in guests of Linux 6.1."""
    parser = argparse.ArgumentParser(prog="tests.remade.record", description=__doc__)
    parser.add_argument("--out", type=Path, default=TOP / "build/lab/6.1")
    folder = parser.parse_args().out.resolve()
    built = prepare(folder, "6.1")
    keep([*kept_files(record(built)), *every_call(built)])


if __name__ == "__main__":
    main()
