# SPDX-License-Identifier: MIT
# The types of the API, whose names __init__.py imports when they are used.
from .api import Clock as Clock
from .api import Match as Match
from .api import Recording as Recording
from .api import open_recording as open
from .records import BadInput as BadInput

__all__ = ["UNKNOWN", "BadInput", "Clock", "Match", "Recording", "__version__", "open"]
__version__: str
UNKNOWN: int
