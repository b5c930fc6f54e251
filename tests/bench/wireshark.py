# SPDX-License-Identifier: MIT
"""What kernel fields cost tshark, and how long a pcapng file takes to write.

    .venv/bin/python -m tests.bench.wireshark [PACKETS [RUNS]]

Makes up a recording in a temporary folder, exports it, and prints CPU seconds, user and system, of
whole processes.  The programs of a group take turns, and the fastest run of each counts.  Ratios to
the first of a group depend little on what else the machine does: they are what should be compared.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from skbviewer.export.wireshark.lua_script import lua_script
from skbviewer.session import import_files

from .generate import generate
from .load import compiled, run

PACKETS, RUNS, CALLS = 200_000, 3, 4  # calls of a packet
EMPTY = """\
local empty = Proto("empty", "A post-dissector that does nothing")
function empty.dissector() end
register_postdissector(empty)
"""
# What a user asks of tshark: without the script, and with it.
CASES = {
    "list packets": ((), ()),
    "filter": (("-Y", "frame.len > 100000"), ("-Y", "kbl.latency > 0.001")),
    "print fields": (
        ("-T", "fields", "-e", "frame.number", "-e", "ip.src"),
        ("-T", "fields", "-e", "frame.number", "-e", "ip.src", "-e", "kbl.latency"),
    ),
    "print three more": (
        ("-T", "fields", "-e", "frame.number", "-e", "ip.src"),
        ("-T", "fields", "-e", "frame.number", "-e", "ip.src", "-e", "kbl.latency")
        + ("-e", "kbl.verdict", "-e", "kbl.dev"),
    ),
    "filter by calls": (("-Y", "frame.len > 100000"), ("-Y", "kbl.dur > 0.001")),
    "filter by function": (("-Y", "frame.len > 100000"), ("-Y", 'kbl.func == "ip_rcv"')),
    "filter by a value": (("-Y", "frame.len > 100000"), ("-Y", "kbl.dur == 0.001")),
    "filter that needs all values": (
        ("-Y", "frame.len > 100000"),
        ("-Y", "kbl.dur in {0.001 .. 0.002}"),
    ),
}


def compared(title: str, programs: dict[str, Sequence[str | Path]], runs: int, home: Path) -> None:
    """Run programs in turns, and print the CPU time of each and its ratio to the first."""
    environment = compiled(home) | {"HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    found: dict[str, float] = {}
    for _ in range(runs):
        for name, words in programs.items():
            found[name] = min(found.get(name, 1e9), run(words, environment).cpu)
    print(title)
    for name, seconds in found.items():
        ratio = seconds / next(iter(found.values()))
        print(f"  {name:<34} {seconds:7.2f} s  {ratio:5.2f} times", flush=True)


def main(packets: int, runs: int) -> None:
    """Make the files and print the tables."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        made = generate(folder, packets, CALLS * packets)
        session, out = folder / "made.skbv", folder / "made.pcapng"
        import_files([made.log, made.capture], session)
        export: list[str | Path] = [
            sys.executable,
            "-m",
            "skbviewer",
            "export",
            session,
            "--pcapng",
        ]
        run([*export, out], compiled(folder))  # so that tshark has a file, and loops are compiled
        copy: list[str | Path] = ["editcap", out, folder / "copy.pcapng"]
        programs: dict[str, Sequence[str | Path]] = {
            "editcap, the file again": copy,
            "skbviewer export --pcapng": [*export, out],
        }
        programs["the same into nothing"] = [*export, Path("/dev/null")]
        compared(f"{packets:,} packets, {out.stat().st_size:,} bytes", programs, runs, folder)
        (folder / "kbl.lua").write_text(lua_script())
        (folder / "empty.lua").write_text(EMPTY)
        tshark: list[str | Path] = ["tshark", "-n", "-r", out]
        empty, ours = (("-X", f"lua_script:{folder / x}.lua") for x in ("empty", "kbl"))
        for title, (without, wanted) in CASES.items():
            programs = {
                "tshark": [*tshark, *without],
                "with an empty script": [*tshark, *empty, *without],
                "with kernel fields": [*tshark, *ours, *wanted],
            }
            compared(f"tshark, {title}: {' '.join(wanted)}", programs, runs, folder)
    print("load:", *(f"{load:.1f}" for load in os.getloadavg()))


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*(given + [PACKETS, RUNS][len(given) :]))
