# SPDX-License-Identifier: MIT
"""Call stacks as folded stacks, the format of Brendan Gregg's flamegraph.pl.

Each line is one stack: the functions from the outermost to the innermost, joined by ";"; after a
space follows the self time of the innermost function in ns.
"""

from __future__ import annotations

from pathlib import Path

from .atomic_write import write_text
from .chosen_rows import stacks_of
from .formats import Exportable, Request


def write_folded(recording: Exportable, request: Request, out: Path) -> None:
    """Write to the file `out` the call stacks of the packets that `request` names.

    Raises KeyError if a packet does not exist, FilterError if the filter is wrong, BadInput if a
    file cannot be used, and Cancelled if the user cancels.
    """
    stacks = stacks_of(recording, request)
    text = "".join(f"{';'.join(stack.functions)} {stack.self_ns}\n" for stack in stacks)
    write_text(out, text)
