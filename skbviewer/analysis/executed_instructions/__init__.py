# SPDX-License-Identifier: MIT
"""What calls executed and accessed: the emulator plugin's counts, joined with a kernel log."""

from .accessed_cache_lines import TouchedLines, touched_lines
from .instructions_of_calls import Steps, executed_steps, steps_of
from .kernel_log_calls import LogCalls
from .marks_of_calls import marked_calls
from .path_instructions import with_steps

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
