# SPDX-License-Identifier: MIT
"""The machine code of a function of a recorded kernel, and what a recording knows about it."""

from __future__ import annotations

from .build_check import LogKernel, check_build
from .listing import Disassembly, Instruction, Marks, disassemble

__all__ = ["Disassembly", "Instruction", "LogKernel", "Marks", "check_build", "disassemble"]
