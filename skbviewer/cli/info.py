# SPDX-License-Identifier: MIT
"""skbviewer info: print counts, matches, losses and clock fits of a session."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from typing import Any

from ..analysis.words.sampling_text import sampling_text_of
from ..records import counted
from .command_parsers import Commands, command, formats
from .file_argument import add_files, open_session
from .terminal_output import print_lines, warn


def add(commands: Commands) -> None:
    """Add the command to `commands`."""
    parser = command(
        commands, "info", "print counts, matches, losses and clock fits of a session", _info
    )
    add_files(parser)
    formats(parser, "json")


def _info(arguments: argparse.Namespace) -> int:
    info = open_session(arguments.files).info()
    if arguments.json:
        print(json.dumps(info, indent=2))
    else:
        print_lines(_info_lines(info))
    return warn(info["warnings"])


def _info_lines(info: dict[str, Any]) -> Iterable[str]:
    for source in info["sources"]:
        detail = ", ".join(f"{k} {v}" for k, v in source["detail"].items())
        size = f"{counted(source['rows'], 'row')}, {counted(source['size'], 'byte')}"
        yield f"{source['kind']:<7} {source['path']}  {size}"
        yield f"        sha256 {source['sha256']}"
        yield f"        {detail}"
        if source["points"]:
            points = counted(source["points"], "record")
            yield f"        clock {source['clock']}, {points} without a return"
    for name in ("packets", "records", "series", "calls", "lost_records"):
        yield f"{name.replace('_', ' '):<13} {info[name]}"
    for name in ("recorder", "events"):
        if info[name]:
            yield f"{name:<13} {_counts(info[name])}"
    for one in info["sampling"]:
        yield f"{'sampling':<13} {sampling_text_of(one)} (source {one['source']})"
    yield f"{'rules':<13} {info['rules']}"
    yield "matches       " + _counts(info["matches"])
    for protocol, counts in info["matches_by_protocol"].items():
        yield f"  {protocol:<11} {_counts(counts)}"
    for clock in info["clock"]:
        for segment in clock["segments"]:
            of = f" interface {segment['interface']}" if "interface" in segment else ""
            yield (
                f"clock         source {clock['source']}{of} - kbl {clock['kbl']}: offset "
                f"{segment['offset_ns']} ns, drift {segment['drift_ppm']:.3f} ppm, "
                f"residual {segment['residual_ns']} ns from {segment['pairs']} pairs"
            )

    for same in info["same_host"]:
        clocks = "one clock" if same["one_clock"] else f"offset {same['offset_ns']} ns"
        lifetimes = counted(same["lifetimes"], "lifetime")
        yield (
            f"same host     source {same['points']} - kbl {same['kbl']}: {clocks}, residual "
            f"{same['error_ns']} ns, {lifetimes} joined by skb address, "
            f"{same['agreeing']} of them with equal headers"
        )


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name.replace('_', '-')}" for name, count in counts.items())
