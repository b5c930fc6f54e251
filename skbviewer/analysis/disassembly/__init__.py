# SPDX-License-Identifier: MIT
"""Disassemble a function of a recorded kernel, and mark what the recording says about it."""

from __future__ import annotations

from .instruction_execution_counts import with_executed_counts
from .instruction_rows import Disassembly, Instruction, Marks
from .kernel_build_check import LogKernel, check_build
from .kernel_image_code import disassemble
from .recorded_code import disassemble_recorded

__all__ = [
    "Disassembly",
    "Instruction",
    "LogKernel",
    "Marks",
    "check_build",
    "disassemble",
    "disassemble_recorded",
    "with_executed_counts",
]
