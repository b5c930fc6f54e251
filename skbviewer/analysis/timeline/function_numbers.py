# SPDX-License-Identifier: MIT
"""Numbers for the functions of all KBLs in a timeline, and the layers of these functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..words.function_layers import layer_of, layers


def layer_names() -> tuple[str, ...]:
    """Return the names of the layers, in the order of resources/layers.json."""
    return tuple(style.name for style in layers())


class Functions:
    """Numbers the functions of all KBLs; 0 stands for a function without a name."""

    def __init__(self, of: Mapping[int, Mapping[int, str]]) -> None:
        names = sorted({name for functions in of.values() for name in functions.values()})
        self.names: tuple[str, ...] = ("", *names[: (1 << 16) - 1])
        number = {name: at for at, name in enumerate(self.names)}
        self._tables = {
            source: np.zeros(max(functions, default=0) + 2, np.uint16)
            for source, functions in of.items()
        }
        for source, functions in of.items():
            for func, name in functions.items():
                if func >= 0:
                    self._tables[source][func] = number.get(name, 0)
        layer = {name: at for at, name in enumerate(layer_names())}
        self._layer = np.array(
            [layer.get(layer_of(name), layer["other"]) for name in self.names], np.uint8
        )

    def numbers(self, source: int, func: Any) -> npt.NDArray[np.uint16]:
        """Return the function number of each probe id in `func` of KBL `source`; 0 = no name."""
        table = self._tables.get(source, np.zeros(1, np.uint16))
        at = np.clip(func, -1, len(table) - 1)  # -1 is the last index, whose value is 0
        return np.asarray(table[at], np.uint16)

    def layers(self, numbers: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint8]:
        """Return for each function number the index of its layer in layer_names()."""
        return self._layer[numbers]
