# SPDX-License-Identifier: MIT
"""Statistics over the calls, layers, stages, drops and programs of chosen packets."""

from .drops import DropRow, drop_rows
from .functions import FunctionRow, function_rows
from .layers import LayerRow, LayerTable, layer_table
from .processes import ProcessRow, process_rows
from .scope import Chosen, Kernel, Scope
from .spread import Spread, spreads

__all__ = [
    "Chosen",
    "DropRow",
    "FunctionRow",
    "Kernel",
    "LayerRow",
    "LayerTable",
    "ProcessRow",
    "Scope",
    "Spread",
    "drop_rows",
    "function_rows",
    "layer_table",
    "process_rows",
    "spreads",
]
