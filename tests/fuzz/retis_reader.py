# SPDX-License-Identifier: MIT
"""Fuzz the reader of retis logs with atheris.

    .venv/bin/python -m pip install atheris
    .venv/bin/python -m tests.fuzz.retis_reader FOLDER -max_total_time=600

FOLDER keeps the inputs that reached new code; other arguments are libFuzzer's.  The compiled loops
run as plain Python, so that atheris sees their branches and numpy checks their indices.  An input
fails if the reader raises anything but BadInput, or if the scanner and the JSON parser read an
event differently.  `--replay FOLDER` reads all inputs with the compiled loops instead.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from skbviewer.readers.tracers import event_rows
from skbviewer.records.compiled import Compiled
from tests.readers import build_retis as retis

NAME = Path("fuzzed.data")
BEGIN = (json.dumps(retis.startup()) + "\n").encode()
WHOLE = b"\x80"  # an input's first byte from here on: the rest is the whole file
OWN = (
    "base64_bytes", "event_block", "event_parse_loops", "event_scan", "event_scan_loops",
    "event_shape_loops", "numbers_by_hash_loops", "numbers_by_hash", "json_token_loops",
    "shape_matching_loops",
)  # fmt: skip


def seeds() -> list[bytes]:
    """Return logs that reach most of the reader."""
    frame = bytes(range(64))
    point = retis.point(10, retis.START, 10, frame)
    drop = retis.point(20, retis.FREE, 10, frame, drop="NO_SOCKET")
    drop["kernel"]["stack_trace"] = ["ip_rcv+0x5", "x+0x1"]
    user: dict[str, Any] = {"common": {"timestamp": 9}}
    user["userspace"] = {"symbol": "a:b", "probe_type": "usdt"}
    user["tracking"] = {"skb": drop["skb-tracking"], "idx": 3}
    nat = retis.point(30, "nf_nat", 10) | {"nft": {"verdict": "drop"}, "ct": {"a": [1, -2.5e3]}}
    events: list[Any] = [point, drop, user, nat, retis.older(point)]
    lines = [json.dumps(event, separators=(",", ":")) for event in events]
    lines += [json.dumps(events), json.dumps(point).replace("ping", "p\\u0069\u00e9"), "[]", "17"]
    one_each = [b"\0" + line.encode() + b"\n" for line in lines]
    return [*one_each, b"\0" + "\n".join(lines).encode()]


def text_of(data: bytes) -> bytes:
    """Return the file that an input stands for."""
    return data[1:] if data[:1] >= WHOLE else BEGIN + data[1:]


def check(data: bytes) -> None:
    """Read an input in both ways.  Raises AssertionError if they differ."""
    from skbviewer.readers.input_file import Source
    from skbviewer.readers.tracers.retis import read_retis
    from skbviewer.records import BadInput, Silent

    text = np.frombuffer(text_of(data), np.uint8).copy()
    try:
        read_retis(Source(NAME, len(text), None, text), Silent(), None)
    except BadInput:
        return
    compare(text)


def compare(text: np.ndarray[Any, np.dtype[np.uint8]]) -> None:
    """Return whether the JSON parser reads each event as the scanner does."""
    from skbviewer.readers.tracers import event_block, event_json, event_scan
    from skbviewer.readers.tracers.event_keys import NUMBERS, TEXTS

    rows, state = event_rows.no_rows(), event_scan.new_state()
    count = event_scan.scan(text, state, rows, event_scan.new_shapes())
    points = np.flatnonzero(rows.kind[:count] == event_rows.POINT)
    block = event_block.EventBlock(text, rows, points, {})
    for number, row in enumerate(points.tolist()):
        raw = text[rows.begin[row] : rows.end[row]].tobytes()
        values = event_json.values_of(event_json.parse_event(raw, False))
        assert values is not None, raw
        seen = {
            n: int(block.number(n)[number]) % (1 << 64) for n in NUMBERS if block.has(n)[number]
        }
        assert seen == values.numbers, raw
        texts = {name: block.text_of(name, number) for name in TEXTS if block.has(name)[number]}
        assert texts == values.texts, raw
        kept = json.loads(block.sections_of(number)) if block.raws[number] else {}
        assert kept == (json.loads(values.sections) if values.sections else {}), raw


def replay(folder: Path) -> None:
    """Read all inputs in a folder with the compiled loops."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    for path in files:
        check(path.read_bytes())
    print(f"{len(files)} inputs read")


def instrument(mark: Callable[[Any], Any]) -> None:
    """Let atheris see the branches of the reader; its compiled loops become plain Python."""
    for name in (*OWN, "event_json", "line_blocks", "point_texts", "retis"):
        module = importlib.import_module(f"skbviewer.readers.tracers.{name}")
        for value in vars(module).values():
            if isinstance(value, Compiled) and value._function.__module__ == module.__name__:
                value._call = mark(value._function)
            elif isinstance(value, FunctionType) and value.__module__ == module.__name__:
                mark(value)


def fuzz(arguments: list[str]) -> None:
    """Run libFuzzer with these arguments; the first one is the folder of inputs."""
    atheris = importlib.import_module("atheris")
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds()):
        (folder / f"seed-{number}").write_bytes(seed)
    words = folder.with_suffix(".words")
    names = ("common", "timestamp", "kernel", "symbol", "packet", "data", "skb-tracking", "dev")
    words.write_text("".join(f'"\\"{name}\\":"\n' for name in names))
    instrument(atheris.instrument_func)
    event_rows.ROWS = 1 << 6  # the arrays of a pass are made anew for each input
    np.seterr(over="ignore")
    atheris.Setup([sys.argv[0], str(folder), f"-dict={words}", *arguments[1:]], check)
    atheris.Fuzz()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--replay"]:
        replay(Path(sys.argv[2]))
    else:
        fuzz(sys.argv[1:])
