# SPDX-License-Identifier: MIT
"""What calls executed and accessed: the emulator plugin's counts, joined with a kernel log."""

from .log_calls import LogCalls
from .marked_calls import marked_calls
from .path_steps import with_steps
from .steps import Steps, executed_steps, steps_of
from .touched_lines import TouchedLines, touched_lines

__all__ = [
    "LogCalls",
    "Steps",
    "TouchedLines",
    "executed_steps",
    "marked_calls",
    "steps_of",
    "touched_lines",
    "with_steps",
]
