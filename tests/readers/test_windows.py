# SPDX-License-Identifier: MIT
"""Files are read some bytes at a time: how many makes no difference; one may be cut short."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from skbviewer import readers
from skbviewer.cli.main import main
from skbviewer.readers.capture import header_columns, pcap, pcapng
from skbviewer.readers.input_file import Hashed
from skbviewer.records import BadInput, Capture, KernelLog, Silent, resource
from skbviewer.session import import_files
from tests.readers.build import ethernet, ipv4, tcp, udp, write_pcap, write_pcapng

LOG = resource("samples/bulk") / "bulk.kbl"


def frames(count: int) -> list[tuple[int, bytes]]:
    """Packets whose payload looks like packets of a capture."""
    dice = random.Random(count)
    fake = b"\0\0\0\0" + b"\1\0\0\0" + b"\x14\0\0\0" * 2 + bytes(20)
    made = []
    for number in range(count):
        payload = fake * dice.randrange(4) + dice.randbytes(dice.randrange(30))
        packet = ipv4("10.0.0.1", "10.0.0.2", 6, tcp(1, 2, number, payload=payload), number)
        if dice.random() < 0.2:
            packet = ipv4("10.0.0.1", "10.0.0.2", 17, udp(1, 2, payload), number)
        made.append((number * 1000, ethernet(packet)))
    return made


def load(path: Path) -> Capture:
    found = readers.read(path, Silent())
    assert isinstance(found, Capture)
    return found


@pytest.mark.parametrize("cut", [0, 1, 17, 5000])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", ["pcap", "pcapng"])
def test_files_read_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, order: str, cut: int
) -> None:
    path = tmp_path / f"a.{kind}"
    write = write_pcap if kind == "pcap" else write_pcapng
    write(path, frames(1500), order=order)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - cut])
    at_once = load(path)
    for module in (pcap, pcapng):
        monkeypatch.setattr(module, "WINDOW", 50)  # most packets are larger
    monkeypatch.setattr(readers.input_file, "AHEAD", 3)
    monkeypatch.setattr(header_columns, "BLOCK_BYTES", 200)
    in_pieces = load(path)
    assert in_pieces.packets.tolist() == at_once.packets.tolist()
    assert in_pieces.warnings == at_once.warnings
    assert bool(in_pieces.warnings) == bool(cut)


class Cut:
    """A Progress that cuts a file short at the first report of a step that begins so."""

    def __init__(self, path: Path, step: str, size: int) -> None:
        self._path, self._step, self._size = path, step, size

    def report(self, what: str, done: int, total: int) -> None:
        if what.startswith(self._step):
            with self._path.open("r+b") as file:
                file.truncate(self._size)


@pytest.mark.parametrize(
    ("kind", "step"),
    [
        *(("kbl", "reading"), ("kbl", "decoding"), ("pcap", "reading"), ("pcap", "dissecting")),
        *(("pcapng", "reading"), ("pcapng", "dissecting")),
    ],
)
def test_a_file_that_is_cut_short_meanwhile(tmp_path: Path, kind: str, step: str) -> None:
    path, session = tmp_path / f"a.{kind}", tmp_path / "a.skbv"
    if kind == "kbl":
        path.write_bytes(LOG.read_bytes())
    else:
        (write_pcap if kind == "pcap" else write_pcapng)(path, frames(20000))
    size = path.stat().st_size // 2
    with pytest.raises(BadInput, match=r"shrank below its \d+ bytes") as caught:
        import_files([path], session, Cut(path, step, size))
    assert caught.value.path == path
    assert caught.value.offset is not None and caught.value.offset >= size
    assert "\n" not in str(caught.value)
    assert not session.exists()


def test_something_else_in_its_place(tmp_path: Path) -> None:
    """Slots that were written over between the two looks at them are found, not followed."""
    path = tmp_path / "a.kbl"
    whole = LOG.read_bytes()
    path.write_bytes(whole)

    class Overwrite:
        def report(self, what: str, done: int, total: int) -> None:
            if what.startswith("decoding") and done == 0:
                with path.open("r+b") as file:
                    file.seek(len(whole) // 4)
                    file.write(b"\x04\x22\0\0" * (len(whole) // 8))  # events without EXT slots

    with pytest.raises(BadInput, match="the file was overwritten"):
        readers.read(path, Overwrite())


def test_the_command_reports_it_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_pcap(tmp_path / "a.pcap", frames(20000))
    size = path.stat().st_size
    read = readers.read

    def cut(
        source: Path, _: object, folder: Path | None = None, hashed: Hashed | None = None
    ) -> Capture | KernelLog:
        return read(source, Cut(path, "dissecting", size // 2), folder, hashed)

    monkeypatch.setattr(readers, "read", cut)
    assert main(["import", "-o", str(tmp_path / "a.skbv"), str(path)]) != 0
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1 and str(path) in lines[0] and "shrank" in lines[0]
