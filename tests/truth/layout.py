# SPDX-License-Identifier: MIT
"""The places of the zoo's recordings, and the description of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

TOP = Path(__file__).resolve().parents[2]
FOLDER = TOP / "build/truth"
RECORDINGS = FOLDER / "recordings"


class Capture(TypedDict):
    """One sniffer: its device, its options, and how many packets the kernel dropped before it.

    sock: the address of its packet socket, "" if no packet reached it.
    """

    device: str
    netns: int
    ifindex: int
    arguments: list[str]
    kernel_dropped: int
    sock: str


class Witness(TypedDict):
    """The witness's hits and missed hits, by event."""

    kprobe_profile: dict[str, list[int]]
    overrun: int
    entries: int


class Recording(TypedDict):
    """What recording.json holds; missed: [missed, written] by pass: "with" the witness, "without".

    The latter is not there before that pass was made.
    """

    scenario: str
    kernel: str
    captures: dict[str, Capture]
    witness: Witness
    missed: dict[str, list[int]]
    tags: list[str]


def series_folder(kernel: str, counted: bool, less: int = 1) -> str:
    """Return the folder's name of a kernel's recordings; `less`: of a part of the traffic."""
    return kernel + "-counted" * counted + (f"-less{less}" if less > 1 else "")


def is_short(recording: Path) -> bool:
    """Say whether a recording is of a part of the traffic.  Such ones are not judged."""
    return "-less" in recording.parent.name


def place(series: str, scenario: str) -> Path:
    """Return the folder of one recording."""
    return RECORDINGS / series / scenario


def is_whole(folder: Path) -> bool:
    """Say whether a recording is there; recording.json is written last."""
    return (folder / "recording.json").exists()


def read(folder: Path) -> Recording:
    """Return what is written about a recording; raises FileNotFoundError if it is not whole."""
    said: Recording = json.loads((folder / "recording.json").read_text())
    return said
