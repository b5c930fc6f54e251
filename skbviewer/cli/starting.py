# SPDX-License-Identifier: MIT
"""Imports without the garbage collector, which would look through what stays for good."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def importing() -> Iterator[None]:
    """Saves a tenth of the time that imports inside take; the collector runs again afterwards."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
