# SPDX-License-Identifier: MIT
"""kblrecord over a folder that stands in for the kernel module, and records to put there."""

from __future__ import annotations

import functools
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from skbviewer.records import kbl_layout as layout

HERE = Path(__file__).resolve().parent
KMOD = HERE.parents[1] / "kmod"
CFLAGS = ("-std=c11", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-O2", "-g")
WARN = ("-Wall", "-Wextra", "-Werror")
STEXT = 0xFFFFFFFF81000000
SYMBOLS = {"_stext": 0, "ip_rcv": 0x1000, "tcp_v4_rcv": 0x2000, "skb_clone": 0x3000,
           "kfree_skbmem": 0x4000, "unfit_function": 0x5000, "net_rx_action": 0x6000}  # fmt: skip
PROBES = "ip_rcv skb@0 int\ntcp_v4_rcv skb@0 int\n"
CLOCK = (5_000_000_000, 1_700_000_005_000_000_000, 6_000_000_000, 40)
REAL_MINUS_MONO = CLOCK[1] - CLOCK[0]
STATS = "mono_ns 6000000000\nmissed 3\nwritten 8\nbytes 256\nlost 2\nnested 1\nopen 4\n"


@functools.cache
def built() -> Path:
    """Return the folder with kblrecord and fake.so, built once a session."""
    folder = Path(tempfile.mkdtemp(prefix="kblrecord-"))
    sources = [KMOD / "kblrecord.c", *sorted(KMOD.glob("rec_*.c"))]
    compile_c(folder / "kblrecord", *sources)
    fake = [HERE / "recorder_fake.c", HERE / "recorder_relay.c"]
    compile_c(folder / "fake.so", "-shared", "-fPIC", *fake, "-ldl")
    return folder


def compile_c(program: Path, *arguments: str | Path, compiler: str = "cc") -> Path:
    """Compile and link as kmod/Makefile does, warnings being errors; returns the program."""
    command = [compiler, *CFLAGS, *WARN, f"-I{KMOD}", "-o", program, *arguments]
    subprocess.run([str(word) for word in command], check=True)
    return program


def missed(counts: dict[int | str, int], since: int, until: int) -> str:
    """Return the counts of missed hits, by probe id or "any"; looked at between these times, ns."""
    lines = [f"{probe} {count}" for probe, count in counts.items()]
    return "\n".join(["# help", f"since {since}", *lines, f"until {until}", ""])


def pack(name: str, **fields: int | bytes | Sequence[int]) -> bytes:
    """Return one struct of kbl.h in little-endian order, what is not given is 0."""
    row = np.zeros(1, layout.DTYPES[name])
    for field, value in fields.items():
        row[field] = value
    return row.tobytes()


def call(ts: int, dur: int, func: int = 0, **fields: int) -> bytes:
    """Return a CALL slot."""
    fields = {"skb": 0xFFFF888000001000, "caller": 0x6010} | fields
    kind = layout.KblKind.CALL
    return pack("kbl_span_slot", kind=kind, ts=ts, dur=dur, func=func, **fields)


def event(ts: int, number: int, **fields: int) -> bytes:
    """Return an EVENT slot."""
    kind = layout.KblKind.EVENT
    return pack("kbl_event_slot", kind=kind, event=number, ts=ts, **fields)


def ext(name: str, number: int, **fields: int | bytes | Sequence[int]) -> bytes:
    """Return an EXT slot."""
    return pack(f"kbl_ext_{name}", kind=layout.KblKind.EXT, type=number, **fields)


def task(ts: int, pid: int, comm: bytes) -> bytes:
    """Return EVENT TASK with the thread's name."""
    head = event(ts, layout.KblEvent.TASK, pid=pid, data=pid, ext=1)
    return head + ext("comm", layout.KblExtType.COMM, tid=pid, comm=comm)


def calls(count: int, first: int = 6_000_000_000) -> bytes:
    """Return CALLs of 100 ns, one a microsecond."""
    slots = np.zeros(count, layout.KBL_SPAN_SLOT)
    slots["kind"] = layout.KblKind.CALL
    slots["ts"] = first + 1000 * np.arange(count)
    slots["dur"] = 100
    slots["func"] = np.arange(count) % 2
    slots["caller"] = 0x6010
    return slots.tobytes()


class Fake:
    """The kernel module's control files in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        lines = [f"{STEXT + at:x} T {name}" for name, at in SYMBOLS.items()]
        lines.append("ffffffffc0000000 t veth_xmit\t[veth]")
        files = {
            "kallsyms": "\n".join(lines) + "\n",
            "control": "# help\nactive\narmed 2\n",
            "probes": "# help\n",
            "stats": f"# help\n{STATS}cpu0 written 8 lost 2 nested 1\n",
            "clock": "# help\n{} {} {} {}\n".format(*CLOCK),
            "devices": "# help\n1 4026531840 lo\n2 4026531840 eth0\n",
            "reasons": "# help\n2 NOT_SPECIFIED\n3 NO_SOCKET\n",
            "missed": missed({}, 1, 2),
            "calibration": "# help\ntau_empty 50\ntau_pair 300\nrounds 1000\nmechanism 2\n",
            "list.txt": PROBES,
        }
        for name, text in files.items():
            (folder / name).write_text(text)
        for name in ("filter", "events", "counter", "cpu0", "cpu1"):
            (folder / name).write_text("")

    def log(self, name: str) -> str:
        """Return what was written into a control file."""
        path = self.folder / f"{name}.log"
        return path.read_text() if path.exists() else ""

    def add(self, cpu: int, records: bytes) -> None:
        """Let a CPU have recorded something."""
        with (self.folder / f"cpu{cpu}").open("ab") as file:
            file.write(records)

    def start(self, *arguments: str | Path | float) -> Recorder:
        """Start kblrecord; it has the list of two functions unless it is given another."""
        return Recorder(self, [str(a) for a in arguments])

    def run(self, *arguments: str | Path | float) -> subprocess.CompletedProcess[str]:
        """Start kblrecord and wait for its own end."""
        return self.start(*arguments).end()


class Recorder:
    """A kblrecord that runs."""

    def __init__(self, fake: Fake, arguments: list[str]) -> None:
        chosen = [] if "-f" in arguments else ["-f", str(fake.folder / "list.txt"), "--no-life"]
        command = [str(built() / "kblrecord"), *chosen, *arguments]
        surroundings = os.environ | {
            "KBL_DEBUGFS": str(fake.folder),
            "LD_PRELOAD": str(built() / "fake.so"),
            "TZ": "UTC",
        }
        self.said = fake.folder / "said"
        self.shown = fake.folder / "shown"
        with self.said.open("wb") as said, self.shown.open("wb") as shown:
            self.process = subprocess.Popen(
                command, env=surroundings, stdin=subprocess.DEVNULL, stdout=shown, stderr=said
            )

    def until(self, text: str) -> Recorder:
        """Wait until the recorder prints this."""
        for _ in range(600):
            if text in self.said.read_text() + self.shown.read_text(errors="replace"):
                return self
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError(f"not said: {text}; but: {self.said.read_text()}")

    def ready(self) -> Recorder:
        """Wait until all is armed."""
        return self.until("recording")

    def end(self, signal: int | None = None) -> subprocess.CompletedProcess[str]:
        """Send the signal, if any, and wait for the end."""
        if signal is not None:
            self.process.send_signal(signal)
        code = self.process.wait(30)
        said, shown = self.said.read_text(), self.shown.read_text(errors="replace")
        return subprocess.CompletedProcess(self.process.args, code, shown, said)
