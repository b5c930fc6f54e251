# SPDX-License-Identifier: MIT
"""python -m tests.truth.combined FOLDER...: judge recordings whose captures were changed in several
ways at once, with logs that lack chunks and hits at once.

A FOLDER holds recordings, at any depth.  --seeds N makes N sessions of each recording, --first N
says which seed is the first; a seed always makes the same session.  Prints a line for each capture
with wrong matches, and the sums at the end.  The exit code is 1 if any match is wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from .changes import CHANGES
from .judge import WRONG, Opinion, counted, judge_capture, origins_of
from .judge_session import connect, read_log, sources
from .missed_hits import without_hits
from .older_log import as_version_2
from .running import Recording, read_recording
from .session_maker import SessionMaker
from .treatments import NS, US, Packet, Treated, packets_of, without_chunks, write_treated

ROOT = Path(__file__).resolve().parents[2]
PER_CAPTURE = 5  # changed captures of each recorded one in a session
FOREIGN = 0.07  # share of the captures that are of another boot
Named = dict[tuple[str, str], Path]  # a changed capture by the recorded one and its changes


def changed_log(log: Path, scratch: Path, rng: Random) -> tuple[Path, str]:
    """Return a log that lacks chunks, hits or both, or neither, and words that say so."""
    said = []
    kind = rng.choice(("", "", "hits", "hits", "version 2"))
    if kind == "hits":
        share, dated = round(10 ** rng.uniform(-3, -0.5), 4), rng.random() < 0.5
        without_hits(log, scratch / "hits.kbl", share, rng.randrange(1 << 30), dated)
        log = scratch / "hits.kbl"
        said.append(f"hits missed: {share:.2%}{'' if dated else ' at unknown times'}")
    elif kind:
        as_version_2(log, scratch / "old.kbl")
        log = scratch / "old.kbl"
        said.append(kind)
    if rng.random() < 0.5:
        share = round(10 ** rng.uniform(-3, -0.4), 4)
        without_chunks(log, scratch / "chunks.kbl", share, rng.randrange(1 << 30))
        log = scratch / "chunks.kbl"
        said.append(f"chunks lost: {share:.2%}")
    return log, ", ".join(said) or "whole log"


def changed(name: str, recording: Recording, rng: Random) -> tuple[Treated, str] | None:
    """Return a capture after up to four changes, and their names; None if nothing is left."""
    packets, said = packets_of(recording.captures[name], name), list[str]()
    foreign = recording.foreign.get(name)
    if foreign and packets and rng.random() < FOREIGN:
        apart = packets[0].frame.ts - foreign[0].ts
        packets = [Packet(one._replace(ts=one.ts + apart), "", -1) for one in foreign]
        said.append("foreign")
    for change in rng.sample(sorted(CHANGES), rng.choice((0, 1, 1, 2, 2, 3, 4))):
        packets = CHANGES[change](packets, rng) if packets else packets
        said.append(change)
    form = US if rng.random() < 0.2 else NS
    return (Treated(packets, form), ", ".join([*said, form])) if packets else None


def captures(recording: Recording, scratch: Path, rng: Random) -> Named:
    """Write the changed captures of a session."""
    files: Named = {}
    for name in recording.captures:
        for number in range(PER_CAPTURE):
            made = changed(name, recording, rng)
            if made:
                path = scratch / f"{name}-{number}.pcap"
                write_treated(made[0], path)
                files[name, f"{number}: {made[1]}"] = path
    return files


def judged(recording: Recording, seed: int, maker: SessionMaker) -> Iterator[list[Opinion]]:
    """Make one session and yield the opinions on each capture; prints those that are wrong."""
    rng = Random(f"{recording.kernel} {recording.scenario} {seed}")
    with tempfile.TemporaryDirectory(prefix="combined-") as folder:
        scratch = Path(folder)
        log, words = changed_log(recording.log, scratch, rng)
        files = captures(recording, scratch, rng)
        maker.make(scratch / "s.skbv", [log, *files.values()])
        db = connect(scratch / "s.skbv")
        inputs = {str(one.path): one for one in sources(db)}
        lives = read_log(db, inputs[str(log.absolute())].id)
        for (name, changes), path in files.items():
            origins = origins_of(path, recording.found, name)
            made = judge_capture(db, inputs[str(path)], lives, recording.witness, origins)
            wrong = [one for one in made if one.truth == WRONG]
            if wrong:
                print(f"{recording.folder}, seed {seed}, {words}, {name} {changes}:",
                      f"{len(wrong)} wrong, the first is {wrong[0]}", flush=True)  # fmt: skip
            yield made
        db.close()


def main() -> int:
    """Judge as the arguments say."""
    parser = argparse.ArgumentParser(prog="tests.truth.combined", description=__doc__)
    parser.add_argument("folder", nargs="+", type=Path)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    said = parser.parse_args()
    count: Counter[str] = Counter()
    found = sorted(path.parent for top in said.folder for path in top.rglob("recording.json"))
    with SessionMaker(ROOT) as maker:
        for folder in found:
            recording = read_recording(folder)
            for seed in range(said.first, said.first + said.seeds):
                for made in judged(recording, seed, maker):
                    count += counted(made)
    print(", ".join(f"{key} {number}" for key, number in sorted(count.items())))
    return 1 if count[WRONG] else 0


if __name__ == "__main__":
    sys.exit(main())
