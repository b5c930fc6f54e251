# SPDX-License-Identifier: MIT
"""The command line. Exit codes: 0 success, 1 warnings about the data, 2 unusable input.

A command is one module with add(), and a line in main.COMMANDS.
"""

from . import program_start  # before all that loads numpy
from .main import main

__all__ = ["main", "program_start"]
