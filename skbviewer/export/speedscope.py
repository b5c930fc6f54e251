# SPDX-License-Identifier: MIT
"""Call stacks as a profile for https://www.speedscope.app.

The file has one sampled profile. Each sample is a call stack; its weight is the self time (ns) of
the innermost function. The `file` of a frame is the function's layer: speedscope gives functions of
the same file similar colours. Format: https://www.speedscope.app/file-format-schema.json
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..analysis.words.function_layers import layer_of
from .atomic_write import write_text
from .chosen_rows import stacks_of
from .formats import Exportable, Request

if TYPE_CHECKING:
    from ..analysis.stats.call_stacks import Stack

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def write_speedscope(recording: Exportable, request: Request, out: Path) -> None:
    """Write to the file `out` the call stacks of the packets that `request` names.

    Raises KeyError if a packet does not exist, FilterError if the filter is wrong, BadInput if a
    file cannot be used, and Cancelled if the user cancels.
    """
    stacks = stacks_of(recording, request)
    title = request.title
    if request.rows or request.times is not None:
        title = f"some packets of {request.filter}" if request.filter else "some packets"
    name = f"{Path(recording.words()[0]).name}: {title}"
    write_text(out, json.dumps(profile(stacks, name)) + "\n")


def profile(stacks: Sequence[Stack], name: str) -> dict[str, Any]:
    """Return the JSON of a speedscope file with one profile."""
    return profiles({name: stacks}, name)


def profiles(named: Mapping[str, Sequence[Stack]], name: str) -> dict[str, Any]:
    """Return the JSON of a speedscope file with several profiles, which share their frames.

    `named` maps the name of each profile to its stacks; `name` is the name that the file shows.
    """
    every = (stack for stacks in named.values() for stack in stacks)
    layers = {name: layer_of(name) for stack in every for name in stack.functions}
    place = {function: at for at, function in enumerate(layers)}
    return {
        "$schema": SCHEMA,
        "exporter": f"skbviewer {__version__}",
        "name": name,
        "shared": {"frames": [{"name": f, "file": layer} for f, layer in layers.items()]},
        "profiles": [
            {
                "type": "sampled",
                "name": title,
                "unit": "nanoseconds",
                "startValue": 0,
                "endValue": sum(stack.self_ns for stack in stacks),
                "samples": [[place[function] for function in s.functions] for s in stacks],
                "weights": [stack.self_ns for stack in stacks],
            }
            for title, stacks in named.items()
        ],
    }
