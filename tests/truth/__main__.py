# SPDX-License-Identifier: MIT
"""python -m tests.truth: judge all recordings of the zoo, treated in all ways.

Writes build/truth/table.json and docs/truth.md, prints the table; the exit code is 1 if any match
is wrong.  A recording is not judged again if program, judge and recording are unchanged.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import pickle
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from skbviewer.matching import RULES

from . import layout
from .judge import WRONG
from .published import publish
from .running import Recording, Truths, all_truths, cell, compare, read_recording
from .session_maker import SessionMaker

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/truth"
DOCS = ROOT / "docs/truth.md"


def _hash(paths: list[Path]) -> str:
    found = hashlib.sha256()
    for path in sorted(paths):
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()


def _key(folder: Path, checkout: Path) -> str:
    """Return what one program's truth about a recording depends on."""
    names = "capture_files judge* missed_hits older_log running session_maker treatments"
    own = [path for name in names.split() for path in Path(__file__).parent.glob(f"{name}.py")]
    program = list((checkout / "skbviewer").rglob("*.py"))
    return _hash([*own, *program, folder / "recording.json", folder / "witness.txt"])


def _grouped(truths: Iterator[Truths]) -> dict[tuple[str, str], list[Truths]]:
    def name(truth: Truths) -> tuple[str, str]:
        return truth.capture, truth.seen.treatment

    return {key: list(of) for key, of in groupby(sorted(truths, key=name), key=name)}


@cache
def _maker(checkout: Path) -> SessionMaker:
    """Return a running program of this checkout; it ends with this process, which is its input."""
    return SessionMaker(checkout)


def _judged_by(
    recording: Recording, checkout: Path, seeds: int, judged: Path
) -> dict[tuple[str, str], list[Truths]]:
    """Return a program's truths, cached because a comparison needs those of two programs."""
    folder = recording.folder
    key = _key(folder, checkout)
    kept = judged / folder.parent.name / f"{folder.name}-{seeds}-{key[:16]}.pickle.gz"
    if kept.exists():
        with gzip.open(kept) as file:
            return dict(pickle.load(file))
    made = _grouped(all_truths(recording, _maker(checkout), seeds))
    kept.parent.mkdir(parents=True, exist_ok=True)
    part = kept.with_suffix(".part")
    with gzip.open(part, "wb", compresslevel=1) as file:
        pickle.dump(made, file)
    part.rename(kept)
    return made


class Baseline(NamedTuple):
    """Another checkout to compare with, and how many choices of lost chunks it is judged with."""

    checkout: Path
    seeds: int


def judge_folder(
    folder: Path, judged: Path, baseline: Baseline | None, seeds: int
) -> list[dict[str, Any]]:
    """Return the table's lines of one recording."""
    recording = read_recording(folder)
    now = _judged_by(recording, ROOT, seeds, judged)
    before = _judged_by(recording, *baseline, judged) if baseline else {}

    def compared(name: tuple[str, str], truths: list[Truths]) -> dict[str, Any]:
        old = before[name]  # the truths of both are in the order of the seeds
        return {"before": compare(recording, truths[: len(old)], old)}

    return [
        cell(recording, truths) | (compared(name, truths) if name in before else {})
        for name, truths in now.items()
    ]


def _folders(recordings: Path, names: list[str]) -> list[Path]:
    found = sorted(path.parent for path in recordings.glob("*/*/recording.json"))
    found = [path for path in found if not layout.is_short(path)]
    return [path for path in found if not names or path.name in names]


def _line(line: dict[str, Any]) -> str:
    numbers = ("packets", "exact", "right", "wrong", "no witness", "ambiguous", "wire-only")
    place = f"{line['scenario']:24} {line['kernel']:5} {line['capture']:8} {line['treatment']:22}"
    return place + "".join(f"{line[name]:8}" for name in numbers)


def _all(
    folders: list[Path], judged: Path, baseline: Baseline | None, jobs: int, seeds: int
) -> list[Any]:
    """Judge, as many recordings at once as there are `jobs`, and print each as it is done."""
    cells: list[dict[str, Any]] = []
    with ProcessPoolExecutor(jobs) as pool:
        waiting = [pool.submit(judge_folder, folder, judged, baseline, seeds) for folder in folders]
        for done in as_completed(waiting):
            for line in done.result():
                cells.append(line)
                print(_line(line), flush=True)
                for fault in line["wrong ones"]:
                    print(f"    {fault}")
    return sorted(cells, key=lambda c: (c["scenario"], c["kernel"], c["capture"], c["treatment"]))


def main() -> int:
    """Judge as the arguments say."""
    parser = argparse.ArgumentParser(prog="python -m tests.truth", description=__doc__)
    parser.add_argument("scenario", nargs="*", help="only these")
    parser.add_argument("--recordings", type=Path, default=BUILD / "recordings")
    parser.add_argument("--baseline", type=Path, help="another checkout's folder, to compare with")
    parser.add_argument("--baseline-seeds", type=int, help="of its logs; as many as --seeds")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--seeds", type=int, default=10, help="of logs that lack chunks; 0: none, faster"
    )
    parser.add_argument("--no-doc", action="store_true", help="leave docs/truth.md as it is")
    arguments = parser.parse_args()
    folders = _folders(arguments.recordings.absolute(), arguments.scenario)
    if not folders:
        parser.error(f"no recording in {arguments.recordings}: python -m tests.truth.record")
    BUILD.mkdir(parents=True, exist_ok=True)
    baseline = None
    if arguments.baseline:
        few = arguments.baseline_seeds
        number = arguments.seeds if few is None else few
        baseline = Baseline(arguments.baseline.absolute(), number)
    cells = _all(folders, BUILD / "judged", baseline, arguments.jobs, arguments.seeds)
    (BUILD / "table.json").write_text(json.dumps(cells, indent=1))
    text = publish(cells, arguments.seeds, RULES)
    (BUILD / "truth.md").write_text(text)
    if not arguments.no_doc and not arguments.scenario:
        DOCS.write_text(text)
    wrong = sum(line[WRONG] for line in cells)
    print(f"{sum(line['packets'] for line in cells)} packets judged, {wrong} exact matches wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
