# SPDX-License-Identifier: MIT
"""Call stacks of two recordings, for differential flame graphs.

Folded stacks have two columns of self times in ns, for the first and for the second recording, as
Brendan Gregg's difffolded.pl writes them for flamegraph.pl. A speedscope file has one profile for
each recording.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from ..analysis.comparison.differential_flame_graph import StackPair, sides
from .atomic_write import write_text
from .speedscope import profiles

STDOUT = Path("-")


def write_folded_pairs(pairs: Sequence[StackPair], out: Path) -> None:
    """Write folded stacks to `out`; "-" is standard output. Raises BadInput if that fails."""
    _write(out, "".join(f"{';'.join(p.functions)} {p.a_ns} {p.b_ns}\n" for p in pairs))


def write_profile_pair(pairs: Sequence[StackPair], names: tuple[str, str], out: Path) -> None:
    """Write a speedscope file with two profiles to `out`; "-" is standard output.

    Raises BadInput.
    """
    titles = [f"{letter}: {name}" for letter, name in zip("AB", names, strict=True)]
    named = dict(zip(titles, sides(list(pairs)), strict=True))
    _write(out, json.dumps(profiles(named, " and ".join(names))) + "\n")


def _write(out: Path, text: str) -> None:
    """Write to standard output (-), or to a file that gets its name when it is complete."""
    if out == STDOUT:
        sys.stdout.write(text)
        return
    write_text(out, text)
