# SPDX-License-Identifier: MIT
"""python -m tests.truth.judging SESSION WITNESS [--capture FILE=RECORDED[:SOCK]] [--wrong]

Judges the captures of a session.  WITNESS is the witness's text, or a recording's folder, whose
recording.json has the sockets.  A capture that was treated has FILE.origin.json beside it; name the
recorded one by --capture.  Prints a line a capture and each wrong match; exit code 1 if any is.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from .capture_files import read_capture
from .judge import UNSEEN, WRONG, counted, judge_capture, read_origin, witnessed
from .judge_session import connect, read_log, sources
from .judge_witness import read_witness


def known_sockets(folder: Path) -> dict[str, int]:
    """The packet socket of each capture of a recording, where the recorder knew it."""
    about = json.loads((folder / "recording.json").read_text())
    captures = about["captures"].items()
    return {name: int(c["sock"], 0) for name, c in captures if c.get("sock")}


def main() -> int:
    """Judge as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("session", type=Path)
    parser.add_argument("witness", type=Path)
    parser.add_argument("--capture", action="append", default=[], help="FILE=RECORDED[:SOCK]")
    parser.add_argument("--all", action="store_true", help="print what is not exact as well")
    arguments = parser.parse_args()
    text = arguments.witness
    socks = known_sockets(text) if text.is_dir() else {}
    witness = read_witness(text / "witness.txt" if text.is_dir() else text)
    recorded: dict[str, tuple[Path, int | None]] = {}
    for option in arguments.capture:
        name, path = option.split("=", 1)
        path, _, sock = path.partition(":")
        recorded[name] = (Path(path), int(sock, 0) if sock else None)
    db = connect(arguments.session)
    inputs = sources(db)
    log = read_log(db, next(s.id for s in inputs if s.kind == "kbl"))
    faults = 0
    for capture in (s for s in inputs if s.kind != "kbl"):
        stem = capture.path.stem
        path, sock = recorded.get(capture.path.name, (capture.path, socks.get(stem)))
        found = witnessed(read_capture(path), witness, sock)
        opinions = judge_capture(db, capture, log, witness, found, read_origin(capture.path))
        count = counted(opinions)
        faults += count[WRONG]
        print(capture.path.name, *(f"{key} {number}" for key, number in count.items()), sep=", ")
        for reason, number in Counter(o.reason for o in opinions if o.truth == UNSEEN).items():
            print(f"  no witness, {number}: {reason}")
        for one in opinions:
            if one.truth == WRONG or arguments.all and one.verdict != "exact":
                print(f"  packet {one.packet + 1} {one.verdict} {one.truth}: series {one.series},"
                      f" the socket's {one.true}: {one.reason}")
    return int(faults > 0)


if __name__ == "__main__":
    raise SystemExit(main())
