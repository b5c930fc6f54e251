# SPDX-License-Identifier: MIT
"""Test a recording by kblrecord: its requests to the module, its file, its end."""

from __future__ import annotations

import fcntl
import os
import re
import resource
import signal
import struct
import time
from pathlib import Path

import numpy as np
import pytest

from skbviewer.records import kbl_layout as layout
from tests.kmod.recorder import STEXT, Fake, Recorder, call, calls, event, task
from tests.lab.kbl_check import Kbl, Type, chunks, one, probes, read, string


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    """A module that has recorded nothing yet."""
    return Fake(tmp_path / "kbl")


def raw(path: Path, cpu: int) -> bytes:
    """All records of one CPU as they stand in the file."""
    found = chunks(path.read_bytes())
    return b"".join(c.payload for c in found if c.header["type"] == 1 and c.header["cpu"] == cpu)


def until_counted(path: Path, times: int) -> None:
    """Wait, also on a slow machine, until the recorder has written `times` COUNTERS."""
    wanted = struct.pack("<IH", layout.KBL_CHUNK_MAGIC, Type.COUNTERS)
    end = time.monotonic() + 60
    while path.read_bytes().count(wanted) < times and time.monotonic() < end:
        time.sleep(0.1)
    time.sleep(0.2)  # for what it writes with them


def symbols(kbl: Kbl) -> dict[str, int]:
    """Names and addresses of the SYMBOLS table; one without a name ends the one before."""
    table = np.frombuffer(kbl.tables[Type.SYMBOLS], layout.KBL_SYMBOL)
    return {string(kbl, int(row["name"])): int(row["addr"]) for row in table}


def test_module_is_asked_in_the_right_order(fake: Fake, tmp_path: Path) -> None:
    words = ["-e", "net,drop", "--counter", "cycles", "--calibrate", "host 10.9.0.1", "or", "arp"]
    done = fake.start("-w", tmp_path / "a.kbl", *words).ready().end(signal.SIGINT)
    assert done.returncode == 0
    written = fake.log("control").split("\n")
    assert written[:5] == ["deactivate", "clear", f"stext 0x{STEXT:x}", "calibrate", "activate"]
    assert set(written[5:]) == {"deactivate", ""}
    assert fake.log("filter") == "host 10.9.0.1 or arp"
    assert fake.log("events") == "-all\n+net\n+drop\n"
    assert fake.log("counter") == "cycles"
    assert fake.log("probes").splitlines() == [
        f"ip_rcv 0x{STEXT + 0x1000:x} skb@0 int",
        f"tcp_v4_rcv 0x{STEXT + 0x2000:x} skb@0 int",
    ]


def test_sampling_is_a_filter_and_is_in_the_file(fake: Fake, tmp_path: Path) -> None:
    for words, asked in (
        (["--sample", "50"], "sample 50/0"),
        (["--sample", "50/7", "tcp", "or", "arp"], "sample 50/7 and (tcp or arp)"),
        (["--sample-packets", "50"], "sample-packets 50/0"),
        (["--sample-packets", "50/7", "tcp"], "sample-packets 50/7 and (tcp)"),
    ):
        fake.start("-w", tmp_path / "a.kbl", *words).ready().end(signal.SIGINT)
        assert fake.log("filter").endswith(asked)
        meta = read(tmp_path / "a.kbl").tables[Type.META]
        assert f"filter={asked}\n".encode() in meta
        seed = b"7" if "/7" in asked else b"0"
        key = b"sample.packets" if "packets" in asked else b"sample.rate"
        assert key + b"=50\nsample.seed=" + seed + b"\n" in meta
        assert meta.count(b"sample.") == 2


def test_old_filter_is_taken_off(fake: Fake, tmp_path: Path) -> None:
    fake.start("-w", tmp_path / "a.kbl").ready().end(signal.SIGINT)
    assert fake.log("filter") == "\n"


def test_records_arrive_whole_and_in_order(fake: Fake, tmp_path: Path) -> None:
    sent = [task(6_000_000_000, 7, b"ping") + calls(20_000, 6_000_000_001), calls(3)]
    run = fake.start("-w", tmp_path / "a.kbl").ready()
    for cpu in (0, 1):
        fake.add(cpu, sent[cpu][:1_000])
        time.sleep(0.1)
        fake.add(cpu, sent[cpu][1_000:])
    done = run.end(signal.SIGTERM)
    kbl = read(tmp_path / "a.kbl")
    assert done.returncode == 0
    assert kbl.types[-1] == Type.END
    for cpu in (0, 1):
        assert raw(tmp_path / "a.kbl", cpu) == sent[cpu]
    assert "20004 records, 2 lost, 3 missed, 1 nested, 4 open" in done.stderr


def test_large_chunks_begin_at_blocks(fake: Fake, tmp_path: Path) -> None:
    """Large chunks bypass the page cache if the file system permits. Other chunks lie between."""
    fake.add(0, calls(50_001))
    run = fake.start("-w", tmp_path / "a.kbl").ready()
    time.sleep(0.5)
    fake.add(1, task(5, 7, b"ping") + calls(10))
    time.sleep(0.5)
    fake.add(0, calls(9_999, 7_000_000_000))
    run.end(signal.SIGINT)
    at, sizes = layout.KBL_FILE_HEADER_SIZE, []
    for header, payload in chunks((tmp_path / "a.kbl").read_bytes()):
        if header["type"] == Type.RECORDS and len(payload) >= 1 << 16:
            assert at % 4096 == 0
            sizes.append(len(payload))
        if header["type"] == Type.PAD:
            assert len(payload) < 4096 + layout.KBL_CHUNK_HEADER_SIZE
            assert not any(payload)
        at += layout.KBL_CHUNK_HEADER_SIZE + len(payload)
    assert sizes == [1 << 18] * 7
    assert raw(tmp_path / "a.kbl", 0) == calls(50_001) + calls(9_999, 7_000_000_000)
    assert raw(tmp_path / "a.kbl", 1) == task(5, 7, b"ping") + calls(10)


def test_tables_tell_functions_symbols_and_costs(fake: Fake, tmp_path: Path) -> None:
    (fake.folder / "list.txt").write_text("ip_rcv skb@0\nunfit_function skb@1\nno_such skb@ret\n")
    fake.add(0, call(1, 2, caller=0x6010) + event(9, layout.KblEvent.DROP, data=0x3010 << 32 | 2))
    done = fake.start("-w", tmp_path / "a.kbl").ready().end(signal.SIGINT)
    kbl = read(tmp_path / "a.kbl")
    table = probes(kbl)
    assert "recording 1 of 3 functions" in done.stderr
    assert [int(table[n]["error"]) for n in ("ip_rcv", "unfit_function", "no_such")] == [0, -22, -2]
    assert [int(table[n]["id"]) for n in ("ip_rcv", "unfit_function", "no_such")] == [0, 1, 2]
    assert table["ip_rcv"]["mechanism"] == layout.KblMechanism.FPROBE
    assert table["ip_rcv"]["carrier"].tolist() == [0x10, 0, 0, 0]
    assert (table["no_such"]["arg"], table["no_such"]["ret"]) == (0xFF, 1)
    known = symbols(kbl)
    assert known["net_rx_action"] == STEXT + 0x6000
    assert known["skb_clone"] == STEXT + 0x3000
    places = np.frombuffer(kbl.tables[Type.SYMBOLS], layout.KBL_SYMBOL)["addr"] - STEXT
    assert 0x4000 in places, "where skb_clone ends"
    cost = one(kbl.tables[Type.CALIBRATION], layout.KBL_CALIBRATION)
    assert (cost["tau_empty"], cost["tau_pair"], cost["rounds"]) == (50, 300, 1000)
    counters = one(kbl.tables[Type.COUNTERS], layout.KBL_COUNTERS)
    assert (counters["bytes"], counters["lost"], counters["open"]) == (256, 2, 4)
    assert b"drop_reason.3=NO_SOCKET\n" in kbl.tables[Type.META]
    assert b"probes=list.txt\n" in kbl.tables[Type.META]


def test_killed_recorder_leaves_a_file_with_names(fake: Fake, tmp_path: Path) -> None:
    fake.add(0, calls(100))
    run = fake.start("-w", tmp_path / "a.kbl").ready()
    until_counted(tmp_path / "a.kbl", 3)
    run.end(signal.SIGKILL)
    kbl = read(tmp_path / "a.kbl")
    assert len(kbl.records) == 100
    assert kbl.types[-1] != Type.END
    assert {"ip_rcv", "tcp_v4_rcv", "net_rx_action"} <= set(symbols(kbl))
    assert set(probes(kbl)) == {"ip_rcv", "tcp_v4_rcv"}
    assert kbl.types.count(Type.COUNTERS) == kbl.types.count(Type.CLOCK) >= 3


def test_symbols_are_written_again_only_when_there_are_new_ones(fake: Fake, tmp_path: Path) -> None:
    run = fake.start("-w", tmp_path / "a.kbl").ready()
    time.sleep(1.3)
    fake.add(0, calls(10))
    time.sleep(2.2)
    run.end(signal.SIGKILL)
    assert read(tmp_path / "a.kbl").types.count(Type.SYMBOLS) == 2


def test_count_is_exact(fake: Fake, tmp_path: Path) -> None:
    fake.add(0, calls(20_000))
    assert fake.run("-w", tmp_path / "a.kbl", "-c", 12_345).returncode == 0
    kbl = read(tmp_path / "a.kbl")
    assert len(kbl.records) == 12_345
    assert kbl.types[-1] == Type.END


def test_duration_ends_it(fake: Fake, tmp_path: Path) -> None:
    begin = time.monotonic()
    assert fake.run("-w", tmp_path / "a.kbl", "--duration", "0.5").returncode == 0
    assert 0.5 <= time.monotonic() - begin < 10


def test_size_makes_files_complete_in_themselves(fake: Fake, tmp_path: Path) -> None:
    fake.add(0, calls(100_000))
    fake.add(1, calls(5))
    assert fake.run("-w", tmp_path / "a.kbl", "-C", "0.5", "--duration", 1).returncode == 0
    names = ["a.kbl", *(f"a{n}.kbl" for n in range(1, 40))]
    files = [tmp_path / name for name in names if (tmp_path / name).exists()]
    assert len(files) >= 7
    assert {f.name for f in files} == {f.name for f in tmp_path.glob("*.kbl")}
    kbls = [read(f) for f in files]
    assert sum(len(k.records) for k in kbls) == 100_005
    assert b"".join(raw(f, 0) for f in files) == calls(100_000)
    for path, kbl in zip(files, kbls, strict=True):
        assert path.stat().st_size <= 500_000
        assert kbl.types[-1] == Type.END
        assert set(probes(kbl)) == {"ip_rcv", "tcp_v4_rcv"}
        assert "net_rx_action" in symbols(kbl)
    assert fake.log("control").count("retell\n") == len(files) - 1


def test_limit_overwrites_the_oldest(fake: Fake, tmp_path: Path) -> None:
    fake.add(0, calls(100_000))
    fake.run("-w", tmp_path / "a.kbl", "-C", "0.5", "-W", 2, "--duration", 1)
    assert {f.name for f in tmp_path.glob("*.kbl")} == {"a.kbl", "a1.kbl"}


def test_seconds_name_files_by_the_time(fake: Fake, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    fake.run("-w", tmp_path / "d/%Y-%S.kbl", "-G", 1, "--duration", 3.5)
    files = sorted((tmp_path / "d").iterdir())
    assert 3 <= len(files) <= 4
    assert all(f.name.startswith(time.strftime("%Y-")) for f in files)
    assert all(read(f).types[-1] == Type.END for f in files)


def test_a_name_that_comes_again_later_overwrites_no_file(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KBL_FAKE_HOURS", "2")
    recorder = fake.start("-w", tmp_path / "%H.kbl", "-G", 1).ready()
    names = ["00.kbl", "001.kbl", "01.kbl", "011.kbl"]  # hour 0, hour 0 again, hour 1, 1 again
    while not all((tmp_path / name).exists() for name in names):
        time.sleep(0.1)
    assert recorder.end(signal.SIGINT).returncode == 0
    assert all(read(path).types[-1] == Type.END for path in tmp_path.glob("*.kbl"))


def test_what_is_recorded_while_files_change_is_repeated(fake: Fake, tmp_path: Path) -> None:
    """Writing the tables takes time; later records go to the next file, after its TASK."""
    repeated, meanwhile = task(6_000_000_000, 7, b"ping"), call(6_000_000_001, 5)
    (fake.folder / "retold").write_bytes(repeated)
    (fake.folder / "meanwhile").write_bytes(meanwhile)
    fake.run("-w", tmp_path / "a.kbl", "-G", 1, "--duration", 2.5)
    later = [raw(tmp_path / name, 0) for name in ("a1.kbl", "a2.kbl")]
    assert all(records.startswith(repeated + meanwhile) for records in later)


def limited(fake: Fake, out: Path, limit: int) -> Recorder:
    """Start a recorder whose files cannot grow beyond the limit."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        return fake.start("-w", out)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_full_disk_keeps_whole_chunks_and_disarms(fake: Fake, tmp_path: Path) -> None:
    fake.add(0, calls(100_000))
    done = limited(fake, tmp_path / "a.kbl", 1_000_000).ready().end()
    assert done.returncode == 1
    assert "a.kbl: File too large; the " in done.stderr
    kbl = read(tmp_path / "a.kbl")
    assert 10_000 < len(kbl.records) < 32_000
    assert set(probes(kbl)) == {"ip_rcv", "tcp_v4_rcv"}
    assert fake.log("control").endswith("activate\ndeactivate\n")


@pytest.mark.parametrize(("name", "says"), [("/dev/full", "No space left"), ("no/a", "No such")])
def test_file_that_cannot_be_written_is_known_before_arming(
    fake: Fake, tmp_path: Path, name: str, says: str
) -> None:
    done = fake.run("-w", tmp_path / name)
    assert done.returncode == 1
    assert says in done.stderr
    assert "activate\n" not in fake.log("control").replace("deactivate\n", "")


def test_unloaded_module_is_a_clear_end(fake: Fake, tmp_path: Path) -> None:
    fake.add(0, calls(50))
    run = fake.start("-w", tmp_path / "a.kbl").ready()
    time.sleep(0.3)
    (fake.folder / "unloaded").touch()
    done = run.end()
    assert done.returncode == 1
    assert "the kernel module was unloaded" in done.stderr
    kbl = read(tmp_path / "a.kbl")
    assert len(kbl.records) == 50
    assert kbl.types[-1] == Type.END


def test_deactivated_module_is_a_clear_end(fake: Fake, tmp_path: Path) -> None:
    run = fake.start("-w", tmp_path / "a.kbl").ready()
    (fake.folder / "control").write_text("# help\ninactive\n")
    fake.add(0, calls(5))
    done = run.end()
    assert done.returncode == 0
    assert "the kernel module was deactivated" in done.stderr
    assert len(read(tmp_path / "a.kbl").records) == 5


@pytest.mark.parametrize("option", ["filter", "counter", "events"])
def test_what_the_module_refuses_is_reported(fake: Fake, tmp_path: Path, option: str) -> None:
    words = {"filter": ["bad words"], "counter": ["--counter", "bad"], "events": ["-e", "bad"]}
    done = fake.run("-w", tmp_path / "a.kbl", *words[option])
    assert done.returncode == 1
    assert f"in {fake.folder}/{option}: Invalid argument" in done.stderr
    assert not (tmp_path / "a.kbl").exists()


def test_refused_function_is_reported_and_the_others_are_probed(fake: Fake, tmp_path: Path) -> None:
    text = (fake.folder / "kallsyms").read_text() + f"{STEXT + 0x7000:x} t bad_function\n"
    (fake.folder / "kallsyms").write_text(text)
    (fake.folder / "list.txt").write_text("bad_function skb@0\nip_rcv skb@0\n")
    done = fake.start("-w", tmp_path / "a.kbl").ready().end(signal.SIGINT)
    assert "list.txt:1: the kernel module refuses 'bad_function': Invalid argument" in done.stderr
    table = probes(read(tmp_path / "a.kbl"))
    assert (table["bad_function"]["error"], table["bad_function"]["addr"]) == (-22, 0)
    assert table["ip_rcv"]["addr"] == STEXT + 0x1000


def test_second_recorder_is_refused(fake: Fake, tmp_path: Path) -> None:
    folder = os.open(fake.folder, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    done = fake.run("-w", tmp_path / "a.kbl")
    os.close(folder)
    assert done.returncode == 1
    assert done.stderr == f"kblrecord: another kblrecord is recording ({own()})\n"
    assert fake.log("control") == ""
    assert not (tmp_path / "a.kbl").exists()


def own() -> str:
    """This process, as kblrecord names a process."""
    return f"{Path('/proc/self/comm').read_text().strip()}, pid {os.getpid()}"


def test_buffers_that_another_process_reads_are_left_alone(fake: Fake, tmp_path: Path) -> None:
    (fake.folder / "busy").touch()
    readers = [os.open(fake.folder / f"cpu{cpu}", os.O_RDONLY) for cpu in (0, 1)]
    done = fake.run("-w", tmp_path / "a.kbl")
    for reader in readers:
        os.close(reader)
    assert done.returncode == 1
    said = re.fullmatch(r"kblrecord: (.*)/cpu[01]: another process reads (.*)\n", done.stderr)
    assert said is not None, done.stderr
    assert said.groups() == (str(fake.folder), f"this buffer ({own()}); only one can")
    assert fake.log("control") == fake.log("filter") == ""
    assert not (tmp_path / "a.kbl").exists()


def test_two_recorders_at_once_are_one_recording(fake: Fake, tmp_path: Path) -> None:
    """The lock decides, whoever comes first; a killed one leaves none behind."""
    recorders = [fake.start("-w", tmp_path / f"{n}.kbl") for n in range(2)]
    for _ in range(200):
        ended = [r.process.poll() for r in recorders]
        if ended.count(None) == 1:
            break
        time.sleep(0.05)
    assert sorted(ended, key=str) == [1, None]
    running = recorders[ended.index(None)].process
    running.kill()
    running.wait()
    fake.run("-w", tmp_path / "after.kbl", "--duration", 0.1)
    assert read(tmp_path / "after.kbl").types[-1] == Type.END


def test_missing_module_says_what_to_do(fake: Fake, tmp_path: Path) -> None:
    (fake.folder / "unloaded").touch()
    done = fake.run("-w", tmp_path / "a.kbl")
    assert done.returncode == 1
    assert "insmod kbl.ko" in done.stderr


def test_cpu_that_comes_later_is_read(fake: Fake, tmp_path: Path) -> None:
    run = fake.start("-w", tmp_path / "a.kbl").ready()
    fake.add(12, calls(4))
    time.sleep(1.5)
    run.end(signal.SIGINT)
    assert raw(tmp_path / "a.kbl", 12) == calls(4)


def test_standard_output_takes_a_file(fake: Fake, tmp_path: Path) -> None:
    fake.add(0, calls(10))
    run = fake.start("-w", "-").ready()
    run.end(signal.SIGINT)
    assert len(read(run.shown).records) == 10


def test_garbage_from_the_module_ends_it(fake: Fake, tmp_path: Path) -> None:
    fake.add(0, calls(3) + bytes(32))
    done = fake.run("-w", tmp_path / "a.kbl")
    assert done.returncode == 1
    assert "an invalid record: kind 0" in done.stderr
