# SPDX-License-Identifier: MIT
"""The Python API, which docs/python-api.md describes; `import skbviewer` offers its names."""

from .opening import open_recording
from .recording import Clock, Match, Recording

__all__ = ["Clock", "Match", "Recording", "open_recording"]
