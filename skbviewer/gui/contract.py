# SPDX-License-Identifier: MIT
"""What the window asks of the layer below: a recording that answers, and how to open one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from skbviewer.records import PacketPath, PacketRow, Progress, SeriesRow, SourceRow

RowIds = npt.NDArray[np.int64]  # n = packet n, -n = row K<n>


class LayerColours(Protocol):
    """A layer and its colours, "#rrggbb"."""

    @property
    def name(self) -> str: ...
    @property
    def colour(self) -> str: ...
    @property
    def colour_dark(self) -> str: ...


class Recording(Protocol):
    """The part of skbviewer.session.Session that views use; read only."""

    def close(self) -> None: ...
    def sources(self) -> tuple[SourceRow, ...]: ...
    def info(self) -> dict[str, Any]: ...
    def packet_count(self) -> int: ...
    def packets(self, first: int, count: int) -> list[PacketRow]: ...
    def kernel_only_count(self) -> int: ...
    def kernel_only(self, first: int, count: int) -> list[SeriesRow]: ...
    def path(self, packet: int | None = None, series: int | None = None) -> PacketPath: ...
    def layers(self) -> Sequence[LayerColours]: ...


Opener = Callable[[Sequence[Path], Progress], Recording]
