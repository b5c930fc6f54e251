# SPDX-License-Identifier: MIT
"""Choose the legs and calls of packets that statistics, breakdowns and diagnoses count."""

from .chosen_legs_and_calls import Scope
from .rows_of_shared_calls import SOCK
from .scope_inputs import NO_DETAILS, Chosen, Details, Kernel, QueueOf

__all__ = ["NO_DETAILS", "SOCK", "Chosen", "Details", "Kernel", "QueueOf", "Scope"]
