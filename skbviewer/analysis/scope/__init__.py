# SPDX-License-Identifier: MIT
"""The legs and calls that statistics, breakdowns and diagnoses count: those of chosen packets."""

from .counted_rows import SOCK
from .scope import Scope
from .scope_inputs import NO_DETAILS, Chosen, Details, Kernel, QueueOf

__all__ = ["NO_DETAILS", "SOCK", "Chosen", "Details", "Kernel", "QueueOf", "Scope"]
