# SPDX-License-Identifier: MIT
"""The machine code of a function of a recorded kernel, with the facts of a recording."""

from __future__ import annotations

from .build_check import LogKernel, check_build
from .listing import Disassembly, Instruction, Marks, disassemble

__all__ = ["Disassembly", "Instruction", "LogKernel", "Marks", "check_build", "disassemble"]
