# SPDX-License-Identifier: MIT
"""Write the probe list for one kernel: functions and their carriers, according to the kernel's BTF.

In: probes.txt; a kernel image (compressed or not) or /sys/kernel/btf/vmlinux; and the modules
beside it. Out: lines ``NAME [CARRIER...] [EVENT] [module=M] [void|bool|int] [quiet|inner]`` for the
module and kblrecord. A line says which arguments carry packets, and what the function returns.
Functions that the kernel does not have are left out, and named on stderr. ``--all`` adds every
function that takes or returns an sk_buff. Needs bpftool, and lz4 if the kernel image is compressed
with lz4.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
NAMES = HERE / "probes.txt"
QUALIFIERS = ("CONST", "VOLATILE", "RESTRICT", "TYPEDEF")
EVENTS = (
    *("alloc", "clone", "copy", "segment", "free", "consume", "drop", "defer_free"),
    *("gro_merge", "coalesce", "morph", "sock_enqueue", "nf_hook"),
)
GRAMMAR = "NAME [CARRIER...] [EVENT] [module=M] [void|bool|int] [quiet|inner]"
RETURNS = ("void", "bool", "int")
CARRIER = re.compile(r"(skb|skbp|list|queue|sock)@(\d|1[0-4]|ret)")
MAX_CARRIERS = 4
# What the compiler and the tracing macros make out of a function; not for probes.
GENERATED = re.compile(r"(__bpf_trace|perf_trace|trace_event_raw|trace_raw|__traceiter|__probestub"
                       r"|__ftrace|bpf_|btf_|__bpf)")  # fmt: skip


class Wanted(NamedTuple):
    """A line of probes.txt; `carriers` is empty if BTF determines them."""

    name: str
    event: str = ""
    module: str = ""
    carriers: tuple[str, ...] = ()
    returns: str = ""
    quiet: bool = False
    inner: bool = False


class Btf(NamedTuple):
    """The types of a kernel or module by id, and its function prototypes by name."""

    types: dict[int, dict[str, Any]]
    functions: dict[str, dict[str, Any]]


def read_line(line: str) -> Wanted | None:
    """Return the function that a line names; None for a comment or an empty line."""
    words = line.split()
    keys = {"module": "", "event": "", "returns": "", "quiet": "", "inner": ""}
    carriers: list[str] = []
    for word in words[1:]:
        if CARRIER.fullmatch(word):
            carriers.append(word)
            continue
        kind = "event" if word in EVENTS else "returns" if word in RETURNS else word
        kind, _, module = kind.partition("=")
        if keys.get(kind, "taken") or (kind == "module") != bool(module):
            return None
        keys[kind] = module or word
    if len(carriers) > MAX_CARRIERS:
        return None
    if keys["inner"] and (carriers or keys["event"] or keys["quiet"]):
        return None
    return Wanted(words[0], keys["event"], keys["module"], tuple(carriers), keys["returns"],
                  bool(keys["quiet"]), bool(keys["inner"]))  # fmt: skip


def read_names(path: Path) -> list[Wanted]:
    """Return the functions that probes.txt lists; raises ValueError that names a bad line."""
    wanted = []
    for number, text in enumerate(path.read_text().splitlines(), 1):
        line = text.partition("#")[0]
        if not line.strip():
            continue
        found = read_line(line)
        if found is None:
            raise ValueError(f"{path}:{number}: not '{GRAMMAR}'")
        wanted.append(found)
    return wanted


def unpack_image(image: bytes) -> bytes:
    """Return the ELF file inside an x86 bzImage; anything else is returned as it is."""
    if image[0x202:0x206] != b"HdrS":
        return image
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (image[0x1F1] + 1) * 512 + offset
    payload = image[start : start + length]
    if payload[:2] == b"\x1f\x8b":
        return gzip.decompress(payload[:-4])
    if payload[:6] == b"\xfd7zXZ\x00":
        return lzma.decompress(payload[:-4])
    tool = {b"\x28\xb5\x2f\xfd": "zstd", b"\x02\x21\x4c\x18": "lz4"}.get(payload[:4])
    if tool is None:
        raise ValueError(
            "the kernel image is compressed in a format that this program does not know"
        )
    command = [tool, "-dc", "-"]
    return subprocess.run(command, input=payload[:-4], capture_output=True, check=True).stdout


def read_btf(path: Path, base: Path | None = None) -> Btf:
    """Return the BTF of a kernel, or of a module, whose type ids continue those of ``base``."""
    command = ["bpftool", *(["-B", str(base)] if base else []), "btf", "dump", "-j", "file"]
    done = subprocess.run([*command, str(path)], capture_output=True, check=True)
    types = {entry["id"]: entry for entry in json.loads(done.stdout)["types"]}
    functions = {t["name"]: t for t in types.values() if t["kind"] == "FUNC"}
    return Btf(types, functions)


def strip(btf: Btf, type_id: int) -> dict[str, Any]:
    """Return the type behind typedefs and qualifiers; void is an empty dict."""
    entry = btf.types.get(type_id, {})
    while entry.get("kind") in QUALIFIERS:
        entry = btf.types.get(entry["type_id"], {})
    return entry


def stars(btf: Btf, type_id: int) -> tuple[str, int]:
    """Return (struct, n) for a struct with n pointer stars, and ("", n) for any other type."""
    count = 0
    entry = strip(btf, type_id)
    while entry.get("kind") == "PTR":
        count += 1
        entry = strip(btf, entry["type_id"])
    return (entry.get("name", ""), count) if entry.get("kind") == "STRUCT" else ("", count)


KINDS = {
    ("sk_buff", 1): "skb",
    ("sk_buff", 2): "skbp",
    ("sk_buff_head", 1): "queue",
    ("sock", 1): "sock",
}


def carriers(btf: Btf, proto: dict[str, Any]) -> list[str]:
    """Return the carriers of a prototype, at most four.

    A sock is a carrier only in functions without a packet, because a packet has its own sock. If a
    function takes an skb and a queue, the queue is no carrier, because the function puts the skb
    into the queue or takes it from there. A struct sk_buff ** is no carrier if the function returns
    an skb, because it receives a second result.
    """
    returns = stars(btf, proto["ret_type_id"]) == ("sk_buff", 1)
    kinds = [KINDS.get(stars(btf, param["type_id"]), "") for param in proto["params"]]
    if returns or "skb" in kinds:
        wanted = ["skb"]
    else:
        wanted = ["skbp", "queue"] if {"skbp", "queue"} & {*kinds} else ["sock"]
    found = [f"{kind}@{i}" for i, kind in enumerate(kinds[:15]) if kind in wanted]
    if wanted == ["sock"]:
        found = found[:1]
    return [*found[: MAX_CARRIERS - returns], *(["skb@ret"] if returns else [])]


def returned(btf: Btf, proto: dict[str, Any]) -> str:
    """Return a result's word: "void", "bool" (1 byte), "int" (up to 4 bytes) or "" (register)."""
    entry = strip(btf, proto["ret_type_id"])
    if not entry:
        return "void"
    if entry["kind"] not in ("INT", "ENUM"):
        return ""
    size = entry.get("size", 8)
    return "bool" if size == 1 else "int" if size <= 4 else ""


def line_of(wanted: Wanted) -> str:
    """Return the line of the generated list for a function."""
    module = f"module={wanted.module}" if wanted.module else ""
    words = [wanted.name, *wanted.carriers, wanted.event, module, wanted.returns]
    more = ["quiet"] * wanted.quiet + ["inner"] * wanted.inner
    return " ".join([word for word in words if word] + more)


def describe(btf: Btf, wanted: Wanted) -> str | None:
    """Return a function's line of the probe list; None if the kernel has no such function.

    BTF has no copies of functions that the compiler made (``.constprop.0``): probes.txt must give
    the carriers of a copy, and the copy's arguments are not checked.
    """
    function = btf.functions.get(wanted.name)
    if function is None:
        return line_of(wanted) if "." in wanted.name and wanted.carriers else None
    proto = btf.types[function["type_id"]]
    found = wanted.carriers or (() if wanted.inner else tuple(carriers(btf, proto)))
    returns = wanted.returns or returned(btf, proto)
    return line_of(wanted._replace(carriers=found, returns=returns))


def touches_skb(btf: Btf, function: dict[str, Any]) -> bool:
    """Return whether a function takes or returns an sk_buff."""
    if GENERATED.match(function["name"]):
        return False
    proto = btf.types[function["type_id"]]
    types = [proto["ret_type_id"], *(param["type_id"] for param in proto["params"])]
    return any(stars(btf, t) in KINDS and KINDS[stars(btf, t)] != "sock" for t in types)


def read_module(path: Path) -> bytes:
    """Return the ELF file of a module, unpacked."""
    return lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()


def read_tables(kernel: Path, modules: dict[str, Path]) -> dict[str, Btf]:
    """Return the BTF of each module by the module's name, and of the kernel under the name ""."""
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder) / "vmlinux"
        image.write_bytes(unpack_image(kernel.read_bytes()))
        tables = {"": read_btf(image)}
        for module, path in modules.items():
            plain = Path(folder) / f"{module}.ko"
            plain.write_bytes(read_module(path))
            over = read_btf(plain, image)
            tables[module] = Btf(tables[""].types | over.types, over.functions)
    return tables


def everything(tables: dict[str, Btf], listed: list[Wanted]) -> list[Wanted]:
    """Return the functions that take or return an sk_buff and are not listed yet."""
    known = {(wanted.module, wanted.name) for wanted in listed}
    return [Wanted(name, module=module) for module, btf in tables.items()
            for name, function in sorted(btf.functions.items())
            if (module, name) not in known and touches_skb(btf, function)]  # fmt: skip


def generate(
    names: Path, kernel: Path, modules: dict[str, Path], *, every: bool = False
) -> tuple[list[str], list[str]]:
    """Return the list's lines, and names that BTF lacks; ``every`` adds all sk_buff functions."""
    tables = read_tables(kernel, modules)
    listed = read_names(names)
    lines, unknown = [], []
    for wanted in listed + (everything(tables, listed) if every else []):
        line = describe(tables.get(wanted.module, tables[""]), wanted)
        unknown += [] if line else [wanted.name]
        lines += [line] if line else []
    return lines, unknown


def main() -> int:
    """Write the probe list; return 0 on success."""
    parser = argparse.ArgumentParser(
        description="Look up in the kernel's BTF which arguments of the functions in probes.txt "
        "carry packets."
    )
    parser.add_argument("kernel", type=Path, help="vmlinuz, vmlinux or /sys/kernel/btf/vmlinux")
    parser.add_argument("modules", type=Path, nargs="*", help="modules, such as veth.ko")
    parser.add_argument("-f", "--names", type=Path, default=NAMES)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("-a", "--all", action="store_true", help="every function with an sk_buff")
    args = parser.parse_args()
    modules = {path.name.partition(".")[0]: path for path in args.modules}
    lines, unknown = generate(args.names, args.kernel, modules, every=args.all)
    head = ["# SPDX-License-Identifier: MIT", "# Generated from probes.txt by gen_probes.py."]
    args.output.write_text("\n".join([*head, *lines]) + "\n")
    print(f"{len(lines)} functions; not in this kernel: {' '.join(unknown)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
