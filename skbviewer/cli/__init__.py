# SPDX-License-Identifier: MIT
"""The command line.

The exit code is 0 on success, 1 if there are warnings about the data, and 2 if the input is
unusable. A command is one module with add(), and a line in main.COMMANDS.
"""

from . import program_start  # before all that loads numpy
from .main import main

__all__ = ["main", "program_start"]
