# SPDX-License-Identifier: MIT
"""A comparison of two recordings, or of two packets, as JSON values.  Times are integer ns."""

from __future__ import annotations

from typing import Any

from ..analysis.comparison import LEVEL, Comparison, Difference, PacketSteps, PathClass
from ..analysis.comparison.aligned_packet_paths import Moment
from ..analysis.comparison.estimate_differences import INTERVAL
from ..analysis.comparison.estimates import NS
from ..analysis.comparison.time_blocks import WINDOWS


def comparison_json(found: Comparison, names: tuple[list[str], list[str]]) -> dict[str, Any]:
    """Return all numbers of a comparison; `names` are the file names of each recording.

    If nothing could be judged, `changes` is None, and `unjudged` says why.
    """
    sides = {
        letter: {"files": files} | amount._asdict()
        for letter, files, amount in zip("ab", names, found.amounts, strict=True)
    }
    method = {"level": LEVEL, "least": found.least, "interval": INTERVAL, "windows": WINDOWS}
    return sides | {
        "conditions": [condition._asdict() for condition in found.conditions],
        "method": method | {"tests": found.tests},
        "changes": None if found.unjudged else len(found.changes),
        "unjudged": found.unjudged or None,
        "rows": [_row(row) for row in found.rows],
        "paths": {name: _path(one) for name, one in found.paths.items()},
    }


def _path(one: PathClass) -> dict[str, Any]:
    steps = [{"depth": depth, "function": name} for depth, name in one.steps]
    return {"kind": one.kind, "dropped": one.dropped, "lost": one.lost, "steps": steps}


def _row(row: Difference) -> dict[str, Any]:
    measure = row.measure
    head = {"section": measure.section, "name": row.name, "measure": measure.name}
    head |= {"unit": measure.unit, "of": measure.of}
    values = {key: value for key, value in row._asdict().items() if key not in ("measure", "name")}
    if measure.unit == NS:
        values |= {key: None if values[key] is None else round(values[key]) for key in ("a", "b")}
    return head | values | {"only": row.only_in}


def _moment(moment: Moment | None) -> dict[str, Any] | None:
    return None if moment is None else moment._asdict()


def steps_json(found: PacketSteps) -> dict[str, Any]:
    """Return the comparison of two packets, step by step."""
    steps = [
        step._asdict()
        | {"a": _moment(step.a), "b": _moment(step.b)}
        | {"longer_ns": step.longer_ns}
        for step in found.steps
    ]
    return {"apart": found.apart, "steps": steps}
