# SPDX-License-Identifier: MIT
"""A KBL with correct checksums and any content is imported, or refused in one line."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from skbviewer import readers
from skbviewer.export import dump_lines, path_lines
from skbviewer.records import BadInput, KernelLog, Silent
from skbviewer.records import kbl_layout as kbl
from skbviewer.session import Session, import_files
from tests.readers.build_kbl import chunk_bytes
from tests.readers.rewrite import version3

from .test_versions import random_story

HEADER = kbl.KBL_CHUNK_HEADER_SIZE


def garbled(data: bytes, chance: random.Random) -> bytes:
    """The file with some bytes of some chunks changed and some chunks left out."""
    parts, at = [data[: kbl.KBL_FILE_HEADER_SIZE]], kbl.KBL_FILE_HEADER_SIZE
    while at < len(data):
        head = np.frombuffer(data, kbl.KBL_CHUNK_HEADER, 1, at)[0]
        size = int(head["payload_len"])
        payload = bytearray(data[at + HEADER : at + HEADER + size])
        at += HEADER + size
        if chance.random() < 0.03:
            continue
        for _ in range(chance.randrange(8) if size else 0):
            place = chance.randrange(size)
            if head["type"] == kbl.KblChunkType.RECORDS and chance.random() < 0.5:
                payload[place // 32 * 32] = chance.randrange(8)  # another kind of record
            else:
                payload[place] = chance.choice((0, 127, 128, 255, chance.randrange(256)))
        type_, cpu, seq, items = (int(head[n]) for n in ("type", "cpu", "seq", "nr_items"))
        times = (int(head["first_ns"]), int(head["last_ns"]))
        parts.append(chunk_bytes(type_, bytes(payload), "<", cpu, seq, items, times))
    return b"".join(parts)


@pytest.mark.parametrize("seed", range(24))
def test_nothing_breaks(tmp_path: Path, seed: int) -> None:
    story = random_story(seed)
    for _, add in sorted(story._records, key=lambda record: record[0]):
        add()
    build = version3(story.kbl) if seed % 2 else story.kbl
    path = tmp_path / "a.kbl"
    path.write_bytes(garbled(build.to_bytes(), random.Random(seed)))
    try:
        session = Session.open(import_files([path], tmp_path / "a.skbv").path)
    except BadInput as error:
        assert str(path) in str(error)
        return
    assert session.info()["records"] > 100
    for row in session.packets.kernel_only(1, 3):
        assert list(path_lines(session.paths.path(series=row.series)))
    log = readers.read(path, Silent())
    assert isinstance(log, KernelLog)
    assert len(list(dump_lines(log))) >= len(log.records)
