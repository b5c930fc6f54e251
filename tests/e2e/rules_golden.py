# SPDX-License-Identifier: MIT
"""The matches of the bundled recordings, by the number of the matching rules.

``python -m tests.e2e.rules_golden`` adds this program's to rules_golden.json.  It changes no number
that is there already, for sessions may hold verdicts under it: raise RULES in
skbviewer/matching/match_rule_numbers.py first.
"""

from __future__ import annotations

import hashlib
import json
import struct
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from skbviewer.analysis import VERDICTS
from skbviewer.matching import KERNEL_ONLY, RULES, LifetimeRung, Rung
from skbviewer.records import resource
from skbviewer.session import Session
from tests.lab.samples import SAMPLES

from .samples import open_sample
from .test_match_cut import cut
from .test_match_lossy import only
from .treated import Kernel, follow, followed, matched, packets_of

FILE = Path(__file__).with_name("rules_golden.json")
NAMES = [sample.name for sample in SAMPLES]
MATCH = ("packet", "leg", "verdict", "rung")
SNAPLEN = 34
AGAIN_NS = 2_000  # between a packet and its copy
EVERY = 5  # one record of so many is lost
Golden = dict[str, Any]
Column = npt.NDArray[Any]


def _tally(verdict: Column, rung: Column) -> dict[str, int]:
    """Return how often each verdict was made for each reason."""
    words: Counter[str] = Counter()
    for kind, step in zip(verdict.tolist(), rung.tolist(), strict=True):
        words[f"{VERDICTS[kind]} {Rung(step).name}"] += 1
    return dict(sorted(words.items()))


def _digest(*columns: Column) -> str:
    """Return a hash of rows of whole numbers, in any order."""
    rows = np.array(columns, np.int64).T
    rows = rows[np.lexsort(rows.T[::-1])]
    return hashlib.sha256(str(rows.tolist()).encode()).hexdigest()


def _session(name: str, folder: Path) -> Golden:
    """Return a session's verdicts on the packets and lifetimes of an unchanged sample."""
    session: Session = open_sample(name, folder)[0]
    packets, lifetimes, matches = (
        [session.columns.array(table, column) for column in columns]
        for table, columns in (("packet", MATCH[2:]), ("series", MATCH[2:]), ("match", MATCH))
    )
    unseen = lifetimes[0] == KERNEL_ONLY
    why = Counter(LifetimeRung(rung).name for rung in lifetimes[1][unseen].tolist())
    return {
        "packets": _tally(*packets),
        "kernel-only": dict(sorted(why.items())),
        "digest": [_digest(*columns) for columns in (packets, lifetimes, matches)],
    }


def _matches(pcap: Path, kernel: Kernel) -> Golden:
    """Return the candidates of a capture in a log, counted by verdict and reason."""
    rows = matched(packets_of(pcap), kernel).rows
    columns = [rows[name] for name in MATCH]
    return {"matches": _tally(*columns[2:]), "digest": _digest(*columns)}


def _twice(pcap: Path, out: Path) -> Path:
    """Return a little-endian pcap of nanoseconds with each packet captured twice."""
    data = pcap.read_bytes()
    assert data[:4] == bytes.fromhex("4d3cb2a1")
    parts, at = [data[:24]], 24
    while at < len(data):
        end = at + 16 + struct.unpack_from("<I", data, at + 8)[0]
        second, ns = struct.unpack_from("<II", data, at)
        later = divmod(second * 10**9 + ns + AGAIN_NS, 10**9)
        parts += [data[at:end], struct.pack("<II", *later), data[at + 8 : end]]
        at = end
    out.write_bytes(b"".join(parts))
    return out


def _lossy(kernel: Kernel) -> Kernel:
    """Return the log without one record in EVERY."""
    count = len(kernel.log.records)
    return followed(only(kernel.log, np.flatnonzero(np.arange(count) % EVERY != 0)))


def verdicts(name: str, folder: Path) -> dict[str, Golden]:
    """Return this program's verdicts on a sample, and on files made from it below `folder`."""
    log = resource(f"samples/{name}/{name}.kbl")
    other = NAMES[(NAMES.index(name) + 1) % len(NAMES)]
    pcap, another = (resource(f"samples/{each}/{each}.pcap") for each in (name, other))
    kernel = follow(log)
    made: dict[str, Callable[[], Golden]] = {
        "as recorded": lambda: _session(name, folder),
        "cut": lambda: _matches(cut(pcap, folder / "cut.pcap", SNAPLEN), kernel),
        "captured twice": lambda: _matches(_twice(pcap, folder / "twice.pcap"), kernel),
        "of another sample": lambda: _matches(another, kernel),
        "with records lost": lambda: _matches(pcap, _lossy(kernel)),
    }
    return {how: make() for how, make in made.items()}


def read() -> dict[str, dict[str, Golden]]:
    """Return the golden verdicts, by the number of the rules and by sample."""
    found: dict[str, dict[str, Golden]] = json.loads(FILE.read_text(encoding="utf-8"))["rules"]
    return found


def main() -> None:
    """Add what this program's rules make of all samples."""
    golden = read() if FILE.exists() else {}
    now = {}
    for name in NAMES:
        with tempfile.TemporaryDirectory() as folder:
            now[name] = verdicts(name, Path(folder))
    before = golden.get(str(RULES), {})
    changed = [name for name, made in before.items() if now.get(name) != made]
    if changed:
        raise SystemExit(
            f"rules {RULES} made other verdicts of {', '.join(changed)}: "
            "raise RULES in skbviewer/matching/match_rule_numbers.py first"
        )
    golden[str(RULES)] = now
    whole = {"SPDX-License-Identifier": "MIT", "rules": golden}
    FILE.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
