# SPDX-License-Identifier: MIT
"""Look up where each function of probes.txt takes its skb, in a kernel's BTF.

In: probes.txt and a kernel image, compressed or not, or /sys/kernel/btf/vmlinux,
and modules beside it.  Out: lines "name argindex returns_skb event [module]" as
kblrecord reads them.  Functions the kernel does not have are left out and
named on stderr.  Needs bpftool, and lz4 for images compressed with it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
NAMES = HERE / "probes.txt"
QUALIFIERS = ("CONST", "VOLATILE", "RESTRICT", "TYPEDEF")


class Wanted(NamedTuple):
    """A line of probes.txt; arg is "" where BTF shall tell."""

    name: str
    event: str
    module: str
    arg: str


class Btf(NamedTuple):
    """Types by id, function prototypes by name."""

    types: dict[int, dict[str, Any]]
    functions: dict[str, dict[str, Any]]


def read_names(path: Path) -> list[Wanted]:
    """Return the wanted functions; raises ValueError naming a bad line."""
    wanted = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        keys = dict(w.split("=", 1) for w in words[1:] if "=" in w)
        events = [w for w in words[1:] if "=" not in w]
        if len(events) > 1 or keys.keys() - {"module", "arg"}:
            raise ValueError(f"{path}:{number}: not 'name [event] [module=M] [arg=N]'")
        event = events[0] if events else "-"
        wanted.append(Wanted(words[0], event, keys.get("module", ""), keys.get("arg", "")))
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
        raise ValueError("the kernel image is compressed in an unknown way")
    command = [tool, "-dc", "-"]
    return subprocess.run(command, input=payload[:-4], capture_output=True, check=True).stdout


def read_btf(path: Path, base: Path | None = None) -> Btf:
    """Return the BTF of a kernel or, over ``base``, of a module."""
    command = ["bpftool", *(["-B", str(base)] if base else []), "btf", "dump", "-j", "file"]
    done = subprocess.run([*command, str(path)], capture_output=True, check=True)
    types = {entry["id"]: entry for entry in json.loads(done.stdout)["types"]}
    functions = {t["name"]: t for t in types.values() if t["kind"] == "FUNC"}
    return Btf(types, functions)


def strip(btf: Btf, type_id: int) -> dict[str, Any]:
    """Follow typedefs and qualifiers; void is an empty dict."""
    entry = btf.types.get(type_id, {})
    while entry.get("kind") in QUALIFIERS:
        entry = btf.types.get(entry["type_id"], {})
    return entry


def skb_stars(btf: Btf, type_id: int) -> int:
    """Return 1 for struct sk_buff *, 2 for struct sk_buff **, else 0."""
    stars = 0
    entry = strip(btf, type_id)
    while entry.get("kind") == "PTR":
        stars += 1
        entry = strip(btf, entry["type_id"])
    return stars if entry.get("name") == "sk_buff" and entry["kind"] == "STRUCT" else 0


def skb_argument(btf: Btf, proto: dict[str, Any]) -> str:
    """Return the index of the first skb argument, "*index" if indirect, "-" if none."""
    stars = [skb_stars(btf, param["type_id"]) for param in proto["params"]]
    if 1 in stars:
        return str(stars.index(1))
    # Beside a returned skb a struct sk_buff ** is where a second result goes.
    returns = skb_stars(btf, proto["ret_type_id"])
    return f"*{stars.index(2)}" if 2 in stars and not returns else "-"


def describe(btf: Btf, wanted: Wanted) -> str | None:
    """Return the output line, or None if the kernel has no such function."""
    tail = f"{wanted.event} {wanted.module}".rstrip()
    if wanted.arg:
        return f"{wanted.name} {wanted.arg} 0 {tail}"
    function = btf.functions.get(wanted.name)
    if function is None:
        return None
    proto = btf.types[function["type_id"]]
    arg, ret = skb_argument(btf, proto), int(skb_stars(btf, proto["ret_type_id"]) == 1)
    return f"{wanted.name} {arg} {ret} {tail}" if arg != "-" or ret else None


def generate(names: Path, kernel: Path, modules: dict[str, Path]) -> tuple[list[str], list[str]]:
    """Return the lines and the names that BTF does not know."""
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder) / "vmlinux"
        image.write_bytes(unpack_image(kernel.read_bytes()))
        tables = {"": read_btf(image)}
        for module, path in modules.items():
            over = read_btf(path, image)
            types = tables[""].types | over.types
            tables[module] = Btf(types, over.functions)
    lines, unknown = [], []
    for wanted in read_names(names):
        line = describe(tables.get(wanted.module, tables[""]), wanted)
        unknown += [] if line else [wanted.name]
        lines += [line] if line else []
    return lines, unknown


def main() -> int:
    """Write the list; 0 on success."""
    parser = argparse.ArgumentParser(description="Take the skb arguments of probes.txt from BTF.")
    parser.add_argument("kernel", type=Path, help="vmlinuz, vmlinux or /sys/kernel/btf/vmlinux")
    parser.add_argument("modules", type=Path, nargs="*", help="modules, such as veth.ko")
    parser.add_argument("-f", "--names", type=Path, default=NAMES)
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args()
    modules = {path.name.partition(".")[0]: path for path in args.modules}
    lines, unknown = generate(args.names, args.kernel, modules)
    head = ["# SPDX-License-Identifier: MIT", "# Generated from probes.txt by gen_probes.py."]
    args.output.write_text("\n".join([*head, *lines]) + "\n")
    print(f"{len(lines)} functions; not in this kernel: {' '.join(unknown)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
