# SPDX-License-Identifier: MIT
"""kblrecord as text: -r of a file, live without -w, and summaries."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from skbviewer.records import kbl_layout as layout
from tests.kmod.recorder import (
    KMOD,
    REAL_MINUS_MONO,
    Fake,
    built,
    call,
    calls,
    compile_c,
    event,
    ext,
    pack,
    task,
)
from tests.lab.kbl_check import SLOT, Type, chunks

NS = 6_000_000_000
IP: dict[str, int | Sequence[int]] = {
      "protocol": 6, "l4_valid": 1, "saddr": (10, 9, 0, 1), "daddr": (10, 9, 0, 2),
      "sport": 4000, "dport": 7, "seq": 100, "ack": 5, "tcp_flags": 0x12, "tot_len": 60, "ttl": 64,
      "ip_id": 3, "frag_off": 0x4000}  # fmt: skip
TAIL_CALL = layout.KBL_FLAG_TAIL_CALL


def footprint(ts: int) -> bytes:
    """A FOOTPRINT of an skb, recorded at ts."""
    head = event(ts, layout.KblEvent.FOOTPRINT, skb=0xFFFF888000001000, pid=7, ext=2)
    where = ext("skb", layout.KblExtType.SKB, ethertype=0x800, ifindex=2, len=74)
    return head + where + ext("ipv4", layout.KblExtType.IPV4, **IP)


STREAM = b"".join([
    task(NS, 7, b"ping"),
    footprint(NS + 1000),
    call(NS + 1100, 500, func=1, context=1, flags=TAIL_CALL),
    call(NS + 1000, 2_345, ext=1, context=1) + ext("call", layout.KblExtType.CALL, ret=-22),
    event(NS + 4000, layout.KblEvent.DROP, skb=1, data=0x3010 << 32 | 3, pid=7),
    event(NS + 4000, layout.KblEvent.CLONE, skb=1, data=2, pid=7),
    pack("kbl_lost_slot", kind=layout.KblKind.LOST, reason=1, func=0xFFFFFFFF, ts=NS + 9000,
         first_ns=NS + 5000, count=12),
    pack("kbl_call_slot", kind=layout.KblKind.ENTRY, flags=layout.KBL_FLAG_OPEN, func=0,
         ts=NS + 9500, caller=0x6010, pid=7),
])  # fmt: skip
BODY = """\
00:00:01.000001000 000s ping/7                         2.345 us | ip_rcv(skb 0xffff888000001000) = -22 < net_rx_action+0x10
00:00:01.000001000 000. ping/7                                  |   * footprint skb 0xffff888000001000: eth0: IP 10.9.0.1.4000 > 10.9.0.2.7: tcp [S.] seq 100 ack 5 length 60 id 3 ttl 64 DF len 74
00:00:01.000001100 000s ping/7                         0.500 us |   tcp_v4_rcv(skb 0xffff888000001000) <~ net_rx_action+0x10
00:00:01.000004000 000. ping/7                                  | * drop skb 0x1 NO_SOCKET at skb_clone+0x10
00:00:01.000004000 000. ping/7                                  | * clone skb 0x1 -> skb 0x2
00:00:01.000009000 000! ?                                       | ! 12 records lost in 4000 ns: the buffers were full
00:00:01.000009500 000. ping/7                                  | > ip_rcv() < net_rx_action+0x10 (has not returned)
"""  # noqa: E501


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A recording of STREAM on CPU 0."""
    fake = Fake(tmp_path / "kbl")
    fake.add(0, STREAM)
    fake.start("-w", tmp_path / "a.kbl", "-c", 8).end()
    return tmp_path / "a.kbl"


def show(*arguments: str | Path | int) -> subprocess.CompletedProcess[str]:
    """Run kblrecord where no kernel module is."""
    surroundings = os.environ | {"TZ": "UTC", "KBL_DEBUGFS": "/nonexistent"}
    command = [str(built() / "kblrecord"), *map(str, arguments)]
    return subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)


def shifted(text: str) -> str:
    """The text's times as they are in the fake's real time."""
    begin = time.strftime("%H:%M:", time.gmtime((NS + REAL_MINUS_MONO) // 10**9))
    second = time.strftime("%S", time.gmtime((NS + REAL_MINUS_MONO) // 10**9))
    return re.sub(r"^00:00:01", begin + second, text, flags=re.MULTILINE)


def test_calls_are_shown_in_order_and_indented(recorded: Path) -> None:
    done = show("-r", recorded)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == shifted(BODY)


def test_live_text_is_the_same(tmp_path: Path) -> None:
    fake = Fake(tmp_path / "kbl")
    fake.add(0, STREAM)
    done = fake.start("-c", 8).end()
    assert done.returncode == 0
    assert done.stdout == shifted(BODY)


def test_live_text_comes_while_recording(tmp_path: Path) -> None:
    fake = Fake(tmp_path / "kbl")
    run = fake.start().ready()
    fake.add(0, call(1000, 10))
    run.until("ip_rcv")
    run.end(signal.SIGINT)


def test_unbuffered_text_is_as_calls_ended(recorded: Path) -> None:
    lines = show("-U", "-r", recorded).stdout.splitlines()
    assert ["footprint" in lines[0], "tcp_v4_rcv" in lines[1], "ip_rcv" in lines[2]] == [True] * 3


@pytest.mark.parametrize(
    ("style", "begin"),
    [("-t", "000s ping"), ("-tt", f"{(NS + REAL_MINUS_MONO) // 10**9}.000001000 000s"),
     ("-ttt", "     0.000000000 000s"), ("-tttt", "2023-11-14 ")],
)  # fmt: skip
def test_times_are_tcpdumps(recorded: Path, style: str, begin: str) -> None:
    assert show(style, "-r", recorded).stdout.startswith(begin)


def test_count_limits_what_is_shown(recorded: Path) -> None:
    assert len(show("-r", recorded, "-v", "-c", 3).stdout.splitlines()) == 3


def test_text_that_finds_no_room_is_an_error(recorded: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([str(built() / "kblrecord"), "-r", str(recorded)], stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False)  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "kblrecord: standard output: No space left on device\n"


def test_file_comes_from_a_pipe(recorded: Path) -> None:
    with recorded.open("rb") as file:
        done = subprocess.run([str(built() / "kblrecord"), "-t", "-r", "-"], stdin=file,
                              capture_output=True, text=True, check=True)  # fmt: skip
    with recorded.open("rb") as file:
        pipe = subprocess.run(["cat"], stdin=file, capture_output=True, check=True).stdout
    again = subprocess.run([str(built() / "kblrecord"), "-t", "-r", "-"], input=pipe,
                           capture_output=True, check=True)  # fmt: skip
    assert done.stdout.encode() == again.stdout == show("-t", "-r", recorded).stdout.encode()


@pytest.mark.parametrize("spare", [1, 40, 100])
def test_cut_file_shows_its_whole_chunks(tmp_path: Path, spare: int) -> None:
    fake = Fake(tmp_path / "kbl")
    run = fake.start("-w", tmp_path / "a.kbl").ready()
    fake.add(0, calls(5))
    time.sleep(0.3)
    fake.add(0, calls(5, NS + 10**6))
    time.sleep(0.3)
    run.end(signal.SIGKILL)
    whole = (tmp_path / "a.kbl").read_bytes()
    (tmp_path / "cut.kbl").write_bytes(whole[:-spare])
    done = show("-t", "-r", tmp_path / "cut.kbl")
    assert done.returncode == 0
    assert "cut short" in done.stderr
    assert len(done.stdout.splitlines()) == 5
    assert done.stderr.count("\n") == 1
    killed = show("-t", "-r", tmp_path / "a.kbl")
    assert len(killed.stdout.splitlines()) == 10
    unclean = f"kblrecord: {tmp_path}/a.kbl: recording ended without a clean stop\n"
    assert killed.stderr == unclean
    assert show("--stats", "-r", tmp_path / "a.kbl").stderr == unclean


def test_damaged_chunk_is_left_out_and_reported(recorded: Path) -> None:
    raw = bytearray(recorded.read_bytes())
    at = raw.index(STREAM) + 5
    raw[at] ^= 1
    recorded.write_bytes(raw)
    done = show("-r", recorded)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("is damaged, skipped\n") == 1


@pytest.mark.parametrize("raw", [b"", b"2LBK", b"x" * 300, b"2LBK" + bytes(300)])
def test_what_is_no_recording_is_refused(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "a").write_bytes(raw)
    done = show("-r", tmp_path / "a")
    assert done.returncode == 1
    assert done.stderr.startswith(f"kblrecord: {tmp_path}/a: ")
    assert done.stderr.count("\n") == 1


def big_endian(raw: bytes) -> bytes:
    """The file as a machine of the other byte order had written it."""
    heads = {1: "call", 2: "call", 3: "span", 4: "event", 5: "lost"}
    tables = {"PROBES": "probe", "SYMBOLS": "symbol", "CLOCK": "clock", "COUNTERS": "counters",
              "DEVICES": "device", "CALIBRATION": "calibration"}  # fmt: skip
    exts = {int(number): number.name.lower() for number in layout.KblExtType}

    def swap(name: str, data: bytes) -> bytes:
        rows = np.frombuffer(data, layout.DTYPES[f"kbl_{name}"])
        return rows.astype(rows.dtype.newbyteorder()).tobytes()

    def slot(data: bytes) -> bytes:
        name = f"ext_{exts[data[1]]}" if data[0] == 6 else f"{heads[data[0]]}_slot"
        return swap(name, data)

    out = swap("file_header", raw[: layout.KBL_FILE_HEADER_SIZE])
    for header, payload in chunks(raw):
        kind = layout.KblChunkType(int(header["type"])).name
        if kind == "RECORDS":
            parts = [payload[i : i + SLOT] for i in range(0, len(payload), SLOT)]
            payload = b"".join(slot(part) for part in parts)
        elif kind in tables:
            size = layout.DTYPES[f"kbl_{tables[kind]}"].itemsize
            whole = len(payload) // size * size
            payload = swap(tables[kind], payload[:whole]) + payload[whole:]
        again = header.astype(header.dtype.newbyteorder())
        again["crc32"] = zlib.crc32(payload)
        again["header_crc32"] = zlib.crc32(again.tobytes()[:44])
        out += again.tobytes() + payload
    return out


def test_other_byte_order_is_read(recorded: Path, tmp_path: Path) -> None:
    other = tmp_path / "big.kbl"
    other.write_bytes(big_endian(recorded.read_bytes()))
    assert other.read_bytes()[:4] == b"KBL2"
    assert show("-r", other).stdout == show("-r", recorded).stdout != ""


def test_swapped_fields_are_those_of_the_layout(tmp_path: Path) -> None:
    """Every EXT slot with the bytes 0 to 31, swapped by the program and by numpy."""
    harness = tmp_path / "harness.c"
    harness.write_text(
        '#include "rec_text.h"\nstatic char data[1 << 16];\nint main(void)\n{\n'
        "\tsize_t n = fread(data, 1, sizeof(data), stdin);\n\n"
        "\trec_swap_records(data, n);\n\treturn fwrite(data, 1, n, stdout) != n;\n}\n"
    )
    program = compile_c(tmp_path / "harness", harness, KMOD / "rec_swap.c")
    kinds = [(1, "call_slot"), (2, "call_slot"), (3, "span_slot"), (4, "event_slot"),
             (5, "lost_slot")]  # fmt: skip
    names = [(kind, 0, name) for kind, name in kinds]
    names += [(6, int(n), f"ext_{n.name.lower()}") for n in layout.KblExtType]
    sent = b"".join(bytes([kind, number, *range(2, SLOT)]) for kind, number, _ in names)
    done = subprocess.run([str(program)], input=sent, capture_output=True, check=True)
    for at, (_, _, name) in enumerate(names):
        dtype = layout.DTYPES[f"kbl_{name}"]
        before = np.frombuffer(sent, dtype, 1, at * SLOT)
        after = np.frombuffer(done.stdout, dtype.newbyteorder(), 1, at * SLOT)
        for field in dtype.names or ():
            if "pad" not in field and field != "args":
                assert after[field].tolist() == before[field].tolist(), f"{name}.{field}"


@pytest.mark.parametrize("live", [False, True])
def test_summary_shows_the_distribution(tmp_path: Path, live: bool) -> None:
    durations = np.random.default_rng(5).lognormal(9, 1.5, 50_000).astype(np.uint32)
    slots = np.frombuffer(calls(50_000), layout.KBL_SPAN_SLOT).copy()
    slots["dur"], slots["func"] = durations, 0
    longest = ext("call", layout.KblExtType.CALL, dur=10**10)
    records = slots.tobytes() + call(1, 0xFFFFFFFF, func=1, ext=1) + longest
    fake = Fake(tmp_path / "kbl")
    fake.add(0, records)
    if live:
        text = fake.start("--stats", "-c", 50_001).end().stdout
    else:
        fake.start("-w", tmp_path / "a.kbl", "-c", 50_001).end()
        text = show("--stats", "-r", tmp_path / "a.kbl").stdout
    header, *rows, last = text.splitlines()
    assert header.split()[:2] == ["FUNCTION", "CALLS"]
    found = {row.split()[0]: [float(n) for n in row.split()[1:]] for row in rows}
    assert list(found) == ["tcp_v4_rcv", "ip_rcv"]
    assert found["tcp_v4_rcv"] == pytest.approx([1, 1e7, 1e7, 1e7, 1e7, 1e4], rel=0.04)
    count, mean, p50, p99, most, total = found["ip_rcv"]
    assert (count, most) == (50_000, round(durations.max() / 1e3, 3))
    assert mean == pytest.approx(durations.mean() / 1e3, abs=0.001)
    assert total == pytest.approx(durations.sum() / 1e6, abs=0.001)
    assert p50 == pytest.approx(np.quantile(durations, 0.5) / 1e3, rel=0.04)
    assert p99 == pytest.approx(np.quantile(durations, 0.99) / 1e3, rel=0.04)
    assert last == "50001 records of 2 functions, 0 lost"


@pytest.mark.parametrize("seed", range(20))
def test_hostile_files_do_no_harm(recorded: Path, tmp_path: Path, seed: int) -> None:
    """Changed bytes under right checksums: an answer, no crash (built with sanitizers)."""
    program = sanitized()
    chance = np.random.default_rng(seed)
    raw = recorded.read_bytes()
    out = raw[: layout.KBL_FILE_HEADER_SIZE]
    for header, payload in chunks(raw):
        hurt = bytearray(payload)
        for at in chance.integers(0, max(len(hurt), 1), len(hurt) and len(hurt) // 40 + 1):
            hurt[at] = chance.integers(0, 256)
        again = header.copy()
        again["crc32"] = zlib.crc32(hurt)
        again["header_crc32"] = zlib.crc32(again.tobytes()[:44])
        out += again.tobytes() + bytes(hurt)
    (tmp_path / "hurt.kbl").write_bytes(out)
    for options in (["-v"], ["--stats"]):
        command = [str(program), *options, "-r", str(tmp_path / "hurt.kbl")]
        surroundings = os.environ | {"ASAN_OPTIONS": "detect_leaks=0"}
        done = subprocess.run(command, env=surroundings, capture_output=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        assert b"Sanitizer" not in done.stderr
        assert b"runtime error" not in done.stderr


SANITIZED: dict[str, Path] = {}


def sanitized() -> Path:
    """Build kblrecord with sanitizers, once."""
    if not SANITIZED:
        sources = [KMOD / "kblrecord.c", *sorted(KMOD.glob("rec_*.c"))]
        flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
        SANITIZED["program"] = compile_c(built() / "sanitized", *flags, *sources)
    return SANITIZED["program"]


def test_names_of_a_table_that_was_replaced_are_forgotten(recorded: Path, tmp_path: Path) -> None:
    """The file's second table of functions lacks ip_rcv, and its strings are longer."""
    raw = recorded.read_bytes()
    parts = [(header.copy(), payload) for header, payload in chunks(raw)]
    of = {int(header["type"]): (header, payload) for header, payload in parts}
    header, probes = of[Type.PROBES]
    other = probes[layout.KBL_PROBE_SIZE :]
    strings = of[Type.STRINGS][1] + bytes(1 << 16)
    more = [(header, other), (of[Type.STRINGS][0], strings), of[Type.RECORDS]]
    (tmp_path / "b.kbl").write_bytes(
        raw[: layout.KBL_FILE_HEADER_SIZE]
        + b"".join(whole(header.copy(), payload) for header, payload in [*parts, *more])
    )
    surroundings = os.environ | {"ASAN_OPTIONS": "detect_leaks=0"}
    command = [str(sanitized()), "-r", str(tmp_path / "b.kbl")]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    assert "Sanitizer" not in done.stderr
    assert " ?(skb" in done.stdout


def whole(header: np.void, payload: bytes) -> bytes:
    """A chunk with right checksums."""
    header["payload_len"], header["crc32"] = len(payload), zlib.crc32(payload)
    header["header_crc32"] = zlib.crc32(header.tobytes()[:44])
    return header.tobytes() + payload


def test_tables_of_the_end_name_what_came_before(tmp_path: Path) -> None:
    fake = Fake(tmp_path / "kbl")
    run = fake.start("-w", tmp_path / "a.kbl").ready()
    (fake.folder / "devices").write_text("9 4026531840 late\n")
    late = ext("skb", layout.KblExtType.SKB, ifindex=9, netns=4026531840)
    fake.add(0, event(NS + 1, layout.KblEvent.FOOTPRINT, skb=1, ext=1) + late)
    run.end(signal.SIGINT)
    assert "* footprint skb 0x1: late: no header yet" in show("-r", tmp_path / "a.kbl").stdout
