# SPDX-License-Identifier: MIT
"""Statistics over calls, layers, stages, drops, programs and conversations of chosen packets."""

from ..scope import Chosen, Details, Kernel, QueueOf, Scope
from .call_stacks import Stack, call_stacks, path_stacks
from .clock_table import ClockRow, clock_rows
from .conversation_table import KINDS as CONVERSATION_KINDS
from .conversation_table import (
    Conversation,
    Endpoint,
    conversations,
    conversations_by_kind,
    endpoints,
    endpoints_by_kind,
)
from .drop_table import DropRow, drop_rows
from .duration_percentiles import Spread, spreads
from .function_table import FunctionRow, function_rows
from .layer_table import LayerRow, LayerTable, layer_table
from .process_table import ProcessRow, process_rows
from .statistic_types import Statistic, Table
from .statistics import STATISTICS, statistic_of

__all__ = [
    "CONVERSATION_KINDS",
    "STATISTICS",
    "Chosen",
    "ClockRow",
    "Conversation",
    "Details",
    "DropRow",
    "Endpoint",
    "FunctionRow",
    "Kernel",
    "LayerRow",
    "LayerTable",
    "ProcessRow",
    "QueueOf",
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
    "statistic_of",
]
