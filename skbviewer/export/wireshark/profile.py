# SPDX-License-Identifier: MIT
"""The files for Wireshark: the Lua script, and a profile with columns, colours and buttons."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from .lua_script import lua_script

MARK = "made by `skbviewer wireshark --install`; sha256 of the lines below:"
PLUGINS, CONFIGURATION = "plugins", "configuration"

COLUMNS = (
    ("No.", "%m"), ("Time", "%t"), ("Source", "%s"), ("Destination", "%d"), ("Protocol", "%p"),
    ("Length", "%L"), ("In kernel", "%Cus:kbl.in_kernel:0:R"), ("Waiting", "%Cus:kbl.waiting:0:R"),
    ("Calls", "%Cus:kbl.functions:0:R"), ("Devices", "%Cus:kbl.dev:0:R"),
    ("Drop", "%Cus:kbl.drop_reason:0:R"), ("Match", "%Cus:kbl.verdict:0:R"), ("Info", "%i"),
)  # fmt: skip
COLOURS = (
    ("Lost in the kernel", "kbl.lost == 1", "[62194,48573,48573]", "[32000,0,0]"),
    ("Ambiguous match", 'kbl.verdict == "ambiguous"', "[65535,62000,48000]", "[16000,16000,16000]"),
    ("Without a kernel path", 'kbl.verdict == "wire-only"', "[58000,58000,58000]",
     "[24000,24000,24000]"),
)  # fmt: skip
BUTTONS = (
    ("Lost", "kbl.lost == 1", "The kernel dropped the packet, so the packet was lost"),
    ("Dropped", "kbl.drop_reason", "The kernel dropped the packet or a copy of it"),
    (
        "> 100 us",
        "kbl.in_kernel > 0.0001",
        "The packet was in the kernel for more than 100 microseconds",
    ),
    (
        "Ambiguous",
        'kbl.verdict == "ambiguous"',
        "More than one skb lifetime may belong to the packet",
    ),
    (
        "Wire only",
        'kbl.verdict == "wire-only"',
        "The kernel log has no skb lifetime for the packet",
    ),
)


WIDTHS = {
    "%m": 55, "%t": 95, "%s": 150, "%d": 150, "%p": 70, "%L": 60, "%Cus:kbl.in_kernel": 100,
    "%Cus:kbl.waiting": 100, "%Cus:kbl.functions": 50, "%Cus:kbl.dev": 75,
    "%Cus:kbl.drop_reason": 140, "%Cus:kbl.verdict": 80, "%i": 600,
}  # fmt: skip  # pixels


class File(NamedTuple):
    """A file for Wireshark: the folder for it, its path there, and its text with the mark."""

    folder: str
    path: str
    text: str
    is_state: bool = False  # Wireshark writes it anew each time it ends


def wireshark_files() -> tuple[File, ...]:
    """Return skbviewer's files for Wireshark: first the script, then the profile's files."""
    columns = ", ".join(f'"{title}", "{what}"' for title, what in COLUMNS)
    profile = {
        "preferences": f"gui.column.format: {columns}\n",
        "colorfilters": "".join(f"@{n}@{f}@{back}{fore}\n" for n, f, back, fore in COLOURS),
        "dfilter_buttons": "".join(
            f'"TRUE","{name}","{_in_quotes(text)}","{note}"\n' for name, text, note in BUTTONS
        ),
    }
    files = [File(PLUGINS, "skbviewer.lua", _marked("--", lua_script()))]
    for name, text in profile.items():
        files.append(File(CONFIGURATION, f"profiles/skbviewer/{name}", _marked("#", text)))
    widths = ", ".join(f'"{what}", {pixels}' for what, pixels in WIDTHS.items())
    recent = _marked("#", f"column.width: {widths}\n")
    return (*files, File(CONFIGURATION, "profiles/skbviewer/recent", recent, is_state=True))


def is_ours(text: str) -> bool:
    """Return whether this text was written by skbviewer, in any version.

    The first line of a file's text has a hash of the other lines.
    """
    first, _, rest = text.partition("\n")
    return first.partition(" ")[2] == f"{MARK} {_hash(rest)}"


def _marked(comment: str, text: str) -> str:
    return f"{comment} {MARK} {_hash(text)}\n{text}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _in_quotes(text: str) -> str:
    return text.replace('"', "\\x22")
