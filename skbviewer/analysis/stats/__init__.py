# SPDX-License-Identifier: MIT
"""Statistics over calls, layers, stages, drops, programs and conversations of chosen packets."""

from .clock import ClockRow, clock_rows
from .drops import DropRow, drop_rows
from .ends import KINDS as CONVERSATION_KINDS
from .ends import (
    Conversation,
    Endpoint,
    conversations,
    conversations_by_kind,
    endpoints,
    endpoints_by_kind,
)
from .functions import FunctionRow, function_rows
from .layers import LayerRow, LayerTable, layer_table
from .processes import ProcessRow, process_rows
from .scope import Chosen, Kernel, Scope
from .spread import Spread, spreads
from .stacks import Stack, call_stacks, path_stacks
from .statistics import STATISTICS
from .table import Statistic, Table

__all__ = [
    "CONVERSATION_KINDS",
    "STATISTICS",
    "Chosen",
    "ClockRow",
    "Conversation",
    "DropRow",
    "Endpoint",
    "FunctionRow",
    "Kernel",
    "LayerRow",
    "LayerTable",
    "ProcessRow",
    "Scope",
    "Spread",
    "Stack",
    "Statistic",
    "Table",
    "call_stacks",
    "clock_rows",
    "conversations",
    "conversations_by_kind",
    "drop_rows",
    "endpoints",
    "endpoints_by_kind",
    "function_rows",
    "layer_table",
    "path_stacks",
    "process_rows",
    "spreads",
]
