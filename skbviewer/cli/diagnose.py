# SPDX-License-Identifier: MIT
"""skbviewer diagnose: say why packets were slow or lost, with evidence."""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

from ..analysis.diagnosis import Diagnosis, Finding
from ..analysis.display_filter import lists_packets
from ..analysis.stats import Chosen
from ..export.diagnosis_text import lines
from ..session import Session
from .command_parsers import Commands, add_inner, command, formats
from .file_argument import add_files, note_samples, open_session, warn_of
from .filter_option import add_filter, chosen_rows
from .row_numbers import row_id
from .terminal_output import Stderr, print_lines
from .time_range_option import add_range, session_range

HELP = """Findings are ordered by severity, and then by the time that they cost.  Rules that were
judged and found nothing are listed after the findings.  If a rule could not be judged, the output
says what the recording lacks, and how to record it."""


def add(commands: Commands) -> None:
    """Add the command to `commands`."""
    parser = command(commands, "diagnose", "say why packets were slow or lost", _diagnose)
    parser.epilog = HELP
    add_files(parser)
    parser.add_argument(
        "--packet",
        type=row_id,
        metavar="N",
        help="only this packet: its number, or K<N> for a row without a captured packet",
    )
    add_range(parser, "packets")
    add_filter(parser, "packets")
    add_inner(parser)
    formats(parser, "json")


def _diagnose(arguments: argparse.Namespace) -> int:
    session = open_session(arguments.files)
    session.show_inner(arguments.inner)
    made = _made(session, arguments)
    if arguments.json:
        print(json.dumps(as_json(made), indent=1, ensure_ascii=False))
    else:
        print_lines(lines(made))
    code = warn_of(session, arguments.files)
    note_samples(session)
    return code


def _made(session: Session, arguments: argparse.Namespace) -> Diagnosis:
    """Diagnose what the arguments choose.  Raises KeyError if a row or range does not exist."""
    row: int | None = arguments.packet
    if row is not None and arguments.range:
        raise KeyError("diagnose: '--packet' and '--range' exclude each other")
    if row is not None:
        packets = session.packets
        most = packets.count() if row > 0 else packets.all_kernel_only_count()
        if abs(row) > most:
            raise KeyError(f"there is no packet {_value(row)}")
    times = session_range(arguments.range, session) if arguments.range else (None, None)
    ids = chosen_rows(session, arguments.filter)
    if ids is not None and row is not None and row not in ids:
        raise KeyError(f"packet {_value(row)} does not match '--filter'")
    rows = None if row is None else np.array([row], np.int64)
    if ids is not None and len(ids) and not arguments.range and lists_packets(arguments.filter):
        rows = np.sort(ids) if rows is None else rows
    progress = Stderr()
    try:
        return session.stats.diagnosis(Chosen(ids, *times), rows, progress)
    finally:
        progress.close()


def as_json(made: Diagnosis) -> dict[str, Any]:
    """Return a diagnosis as values for JSON. Times are integer nanoseconds."""
    findings = [_finding_json(rank, one) for rank, one in enumerate(made.findings, 1)]
    judged = [one._asdict() for one in made.judged]
    time = [row._asdict() for row in made.time.rows]
    return {"findings": findings, "judged": judged, "time": time}


def _finding_json(rank: int, one: Finding) -> dict[str, Any]:
    facts = ((fact, None if fact.id is None else _value(fact.id)) for fact in one.evidence)
    return {
        "rule": one.rule,
        "rank": rank,
        "severity": one.severity,
        "packet": None if one.packet is None else _value(one.packet),
        "packets": one.number,
        "cost_ns": one.cost_ns,
        "text": one.text,
        "evidence": [fact._asdict() | {"id": row} for fact, row in facts],
        "advice": one.advice,
    }


def _value(number: int) -> int | str:
    return number if number > 0 else f"K{-number}"
