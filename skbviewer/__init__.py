# SPDX-License-Identifier: MIT
"""skbviewer joins a packet capture with what the kernel did to each packet.

The Python API begins with open(); docs/python-api.md describes it.
"""

from importlib import import_module

__version__ = "0.1.0"
UNKNOWN = -(1 << 63)  # an unknown int64 in arrays of the API

# Each name is imported when it is first used, so that no command waits for the API.
_LATER = {
    "BadInput": (".records", "BadInput"),
    "Clock": (".api", "Clock"),
    "Match": (".api", "Match"),
    "Recording": (".api", "Recording"),
    "open": (".api", "open_recording"),
}
__all__ = ["UNKNOWN", "__version__", *_LATER]


def __getattr__(name: str) -> object:
    """Import a name of the API when the name is first used."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _LATER[name]
    return getattr(import_module(module, __name__), attribute)
