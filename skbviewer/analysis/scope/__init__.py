# SPDX-License-Identifier: MIT
"""Choose the legs and calls of packets that statistics, breakdowns and diagnoses count."""

from .counted_rows import SOCK
from .scope import Scope
from .scope_inputs import NO_DETAILS, Chosen, Details, Kernel, QueueOf

__all__ = ["NO_DETAILS", "SOCK", "Chosen", "Details", "Kernel", "QueueOf", "Scope"]
