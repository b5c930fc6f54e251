# SPDX-License-Identifier: MIT
"""Statistics over the calls, layers, stages, drops, programs and ends of chosen packets."""

from .drops import DropRow, drop_rows
from .ends import KINDS as CONVERSATION_KINDS
from .ends import Conversation, Endpoint, conversations, endpoints
from .functions import FunctionRow, function_rows
from .layers import LayerRow, LayerTable, layer_table
from .processes import ProcessRow, process_rows
from .scope import Chosen, Kernel, Scope
from .spread import Spread, spreads
from .stacks import Stack, call_stacks, path_stacks

__all__ = [
    "CONVERSATION_KINDS",
    "Chosen",
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
    "call_stacks",
    "conversations",
    "drop_rows",
    "endpoints",
    "function_rows",
    "layer_table",
    "path_stacks",
    "process_rows",
    "spreads",
]
