# SPDX-License-Identifier: MIT
"""python -m tests.truth.judging SESSION WITNESS [--capture NAME=FILE[:SOCK]] [--all]

Judges the captures of a session.  WITNESS is the witness's text, or a recording's folder, whose
recording.json has the sockets.  A capture that was treated has FILE.origin.json beside it, which
names the recorded ones; --capture shows where these are.  Prints a line a capture and each wrong
match; the exit code is 1 if there is any.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from .capture_files import read_capture
from .judge import UNSEEN, WRONG, Witnessed, counted, judge_capture, origins_of, witnessed
from .judge_session import connect, read_log, sources
from .judge_witness import read_witness


def known_sockets(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the packet socket of each capture, and its network namespace.

    A socket that the recorder did not know is missing.
    """
    about = json.loads((folder / "recording.json").read_text())
    captures = about["captures"].items()
    return {name: (int(c["sock"], 0), c["netns"]) for name, c in captures if c.get("sock")}


def main() -> int:
    """Judge as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("session", type=Path)
    parser.add_argument("witness", type=Path)
    parser.add_argument("--capture", action="append", default=[], help="NAME=FILE[:SOCK]")
    parser.add_argument("--all", action="store_true", help="print what is not exact as well")
    arguments = parser.parse_args()
    text = arguments.witness
    socks = known_sockets(text) if text.is_dir() else {}
    witness = read_witness(text / "witness.txt" if text.is_dir() else text)
    recorded: dict[str, Witnessed] = {}
    for option in arguments.capture:
        name, rest = option.split("=", 1)
        path, _, sock = rest.partition(":")
        recorded[name] = witnessed(read_capture(Path(path)), witness, int(sock or "0", 0))
    db = connect(arguments.session)
    inputs = sources(db)
    log = read_log(db, next(s.id for s in inputs if s.kind == "kbl"))
    faults = 0
    for capture in (s for s in inputs if s.kind != "kbl"):
        name = capture.path.stem
        if name not in recorded:
            recorded[name] = witnessed(
                read_capture(capture.path), witness, *socks.get(name, (None, 0))
            )
        origins = origins_of(capture.path, recorded, name)
        opinions = judge_capture(db, capture, log, witness, origins)
        count = counted(opinions)
        faults += count[WRONG]
        print(capture.path.name, *(f"{key} {number}" for key, number in count.items()), sep=", ")
        for reason, number in Counter(o.reason for o in opinions if o.truth == UNSEEN).items():
            print(f"  no witness, {number}: {reason}")
        for one in opinions:
            if one.truth == WRONG or (arguments.all and one.verdict != "exact"):
                print(
                    f"  packet {one.packet + 1} {one.verdict} {one.truth}: series {one.series},"
                    f" the socket's {one.true}: {one.reason}"
                )
    return int(faults > 0)


if __name__ == "__main__":
    raise SystemExit(main())
