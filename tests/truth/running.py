# SPDX-License-Identifier: MIT
"""Judge one recording: every capture, as it was recorded and treated, with the whole log, with one
of version 2, and with logs that lack chunks or hits."""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from . import layout
from .capture_files import Frame, read_capture
from .judge import (
    RIGHT,
    UNSEEN,
    WRONG,
    Witnessed,
    counted,
    judge_capture,
    origins_of,
    witnessed,
)
from .judge_session import clock_error, connect, declared, read_log, sources
from .judge_witness import Witness, read_witness
from .missed_hits import without_hits
from .older_log import as_version_2
from .recall import Seen, apart, unanimous
from .scenarios import Scenario, named
from .session_maker import SessionMaker
from .treatments import (
    LOG_SHARES,
    TREATMENTS,
    Recorded,
    packets_of,
    without_chunks,
    write_treated,
)

Cell = dict[str, Any]  # as in table.json
OLDER_LOG = "log of version 2"
MISSES = ((1, True), (1, False), (10, False))  # % of hits; whether the log says when
SHOWN = 12  # wrong matches that a cell names


class Recording(NamedTuple):
    """A recording's folder, read."""

    folder: Path
    kernel: str
    scenario: str
    captures: dict[str, Path]
    found: dict[str, Witnessed]
    witness: Witness
    foreign: dict[str, list[Frame]]  # captures of the same scenario on another kernel, by name

    @property
    def log(self) -> Path:
        """Return the kernel log."""
        return self.folder / "log.kbl"


class Truths(NamedTuple):
    """The opinions on one treated capture."""

    capture: str
    seen: Seen


def read_recording(folder: Path) -> Recording:
    """Read a recording and join its captures with the witness."""
    about = json.loads((folder / "recording.json").read_text())
    witness = read_witness(folder / "witness.txt")
    captures: dict[str, Path] = {}
    found: dict[str, Witnessed] = {}
    for name, known in sorted(about["captures"].items()):
        path = next(p for end in ("pcap", "pcapng") if (p := folder / f"{name}.{end}").exists())
        captures[name] = path
        sock = known.get("sock")
        number = int(sock, 0) if sock else None
        found[name] = witnessed(read_capture(path), witness, number, known["netns"])
    kernel, scenario = folder.parent.name, folder.name
    foreign = _foreign(folder, captures)
    return Recording(folder, kernel, scenario, captures, found, witness, foreign)


def _foreign(folder: Path, captures: dict[str, Path]) -> dict[str, list[Frame]]:
    found = sorted(folder.parent.parent.glob(f"*/{folder.name}"))
    others = [other for other in found if other != folder and not layout.is_short(other)]
    return {
        name: read_capture(other / path.name)
        for name, path in captures.items()
        for other in others
        if (other / path.name).exists()
    }


def treat(recording: Recording, scratch: Path) -> dict[tuple[str, str], Path]:
    """Write every treated capture; by capture and treatment the file."""
    packets = {name: packets_of(path, name) for name, path in recording.captures.items()}
    files = {}
    for name, own in packets.items():
        others = {n: p for n, p in packets.items() if n != name}
        given = Recorded(name, own, others, recording.foreign.get(name, []))
        for treatment, path in _written(given, scratch):
            if path is not None:
                files[name, treatment] = path
    return files


def _written(given: Recorded, scratch: Path) -> Iterator[tuple[str, Path | None]]:
    for number, (name, change) in enumerate(TREATMENTS.items()):
        treated = change(given) if given.packets else None
        if treated is None or not treated.packets:
            yield name, None
            continue
        path = scratch / f"{given.name}-{number}.{'pcapng' if 'pcapng' in treated.form else 'pcap'}"
        write_treated(treated, path)
        yield name, path


def judged(
    recording: Recording, session: Path, files: dict[tuple[str, str], Path]
) -> Iterator[Truths]:
    """Yield the truth of every capture in a session of a recording's log."""
    db = connect(session)
    inputs = sources(db)
    log = read_log(db, next(s.id for s in inputs if s.kind == "kbl"))
    by_path = {str(s.path): s for s in inputs}
    lost = declared(db, log.source)
    for (name, treatment), path in files.items():
        capture = by_path[str(path.absolute())]
        origins = origins_of(path, recording.found, name)
        opinions = judge_capture(db, capture, log, recording.witness, origins)
        error = clock_error(db, capture.id)
        yield Truths(name, Seen(treatment, opinions, origins, error, lost))
    db.close()


def _memory() -> str | None:
    """Return a folder in memory if there is one: hundreds of sessions would wear the disk."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def all_truths(recording: Recording, maker: SessionMaker, seeds: int) -> Iterator[Truths]:
    """Yield the truth of every capture and treatment.

    The log is also tried as version 2, and without chunks or hits that each seed chooses.
    """
    with tempfile.TemporaryDirectory(prefix="truth-", dir=_memory()) as folder:
        scratch = Path(folder)
        session = scratch / "s.skbv"
        files = treat(recording, scratch)
        maker.make(session, [recording.log, *files.values()])
        yield from judged(recording, session, files)
        plain = {name: path for (name, treatment), path in files.items() if treatment == "none"}
        log = scratch / "other.kbl"
        for name in _other_logs(recording.log, log, seeds):
            captures = {(capture, name): path for capture, path in plain.items()}
            maker.make(session, [log, *plain.values()])
            yield from judged(recording, session, captures)


def _other_logs(log: Path, out: Path, seeds: int) -> Iterator[str]:
    """Write one log after the other into `out`; yields the treatment's name of each.

    Hits are taken away by a tenth of the seeds, because a log without them takes long to write.
    """
    as_version_2(log, out)
    yield OLDER_LOG
    for share in LOG_SHARES:
        for seed in range(seeds):
            without_chunks(log, out, share / 100, seed)
            yield f"{share} % of chunks lost"
    for share, dated in MISSES:
        for seed in range((seeds + 9) // 10):
            without_hits(log, out, share / 100, seed, dated)
            yield f"{share} % of hits missed{'' if dated else ' at unknown times'}"


def cell(recording: Recording, truths: list[Truths]) -> Cell:
    """Return the table's line of one capture and treatment, of all its seeds."""
    count: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    wrong: list[str] = []
    for truth in truths:
        count += counted(truth.seen.opinions)
        reasons.update(o.reason for o in truth.seen.opinions if o.truth == UNSEEN)
        wrong += [
            f"packet {o.packet + 1}: lifetime {o.series}, the socket's {o.true}: {o.reason}"
            for o in truth.seen.opinions
            if o.truth == WRONG
        ]
    line: Cell = {
        "scenario": recording.scenario,
        "kernel": recording.kernel,
        "capture": truths[0].capture,
        "treatment": truths[0].seen.treatment,
        **{key: count[key] for key in ("packets", "exact", RIGHT, WRONG, UNSEEN)},
        "ambiguous": count["ambiguous"],
        "wire-only": count["wire-only"],
        "wire-only seen": sum(
            o.verdict == "wire-only" and bool(o.true) for t in truths for o in t.seen.opinions
        ),
        "reasons": dict(reasons),
        "wrong ones": wrong[:SHOWN],
    }
    if truths[0].seen.treatment == "none":
        line |= apart(truths[0].seen.opinions, truths[0].seen.origins, truths[0].seen.error_ns)
        line["log lacks"] = log_lacks(recording.scenario, truths[0].seen.lost)
    return line


def log_lacks(scenario: str, lost: list[tuple[int, int]]) -> str:
    """Return what a log lacks, in a word: "" for a whole log.

    `lost` has the stretches in which the log declares that records are missing.
    """
    if named(scenario).probes != Scenario._field_defaults["probes"]:
        return "few functions"
    return "records" if lost else ""


def compare(recording: Recording, now: list[Truths], before: list[Truths]) -> Cell:
    """Return packets that were right and exact before and are not now, by their alternatives."""
    shown: Counter[str] = Counter()
    unshown: list[int] = []
    right = 0
    for new, old in zip(now, before, strict=True):
        lost = []
        for one, was in zip(new.seen.opinions, old.seen.opinions, strict=True):
            right += was.truth == RIGHT
            if was.truth == RIGHT and one.verdict != "exact":
                lost.append(one.packet)
        for packet, why in unanimous(lost, new.seen, recording.witness).items():
            shown[why or "no reason is known"] += 1
            if not why:
                unshown.append(packet + 1)
    return {"right before": right, "lost": dict(shown), "not shown": unshown[:SHOWN]}
