# SPDX-License-Identifier: MIT
"""Where the tables' own recordings are kept."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "recorded"
