# SPDX-License-Identifier: MIT
"""Executed instructions of calls: the marks of the emulator's plugin, joined with a kernel log."""

from .log_calls import LogCalls
from .path_steps import with_steps
from .steps import Steps, executed_steps

__all__ = ["LogCalls", "Steps", "executed_steps", "with_steps"]
