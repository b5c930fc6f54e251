# SPDX-License-Identifier: MIT
"""Turn kbl.h into skbviewer/records/kbl_layout.py.

In: the C header, read through the C preprocessor and pycparser. Out: Python text with a numpy dtype
per struct (little-endian), an IntEnum per enum, the constants, and the table of events and their
traits. Structs must be naturally aligned without implicit padding, otherwise a ValueError is
raised. Run ``python kmod/gen_layout.py`` to write the file.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from pycparser import c_ast, c_parser

HERE = Path(__file__).resolve().parent
HEADER = HERE / "kbl.h"
OUTPUT = HERE.parent / "skbviewer" / "records" / "kbl_layout.py"
CODES = {
    "kbl_u8": ("u1", 1),
    "kbl_u16": ("<u2", 2),
    "kbl_u32": ("<u4", 4),
    "kbl_u64": ("<u8", 8),
    "kbl_s32": ("<i4", 4),
    "kbl_s64": ("<i8", 8),
    "char": ("S", 1),
}
DEFINE = re.compile(r"^#define\s+(KBL_[A-Z0-9_]+)\s+(0x[0-9a-fA-F]+|[0-9]+)\b", re.MULTILINE)
EVENT = re.compile(
    r"^\s*KBL_EV_(?P<name>\w+) = (?P<number>\d+),?"
    r"(?:\s*/\*(?:\s*\[(?P<traits>[a-z ]+)\])?\s*(?P<text>.*?)\s*\*/)?$",
    re.MULTILINE,
)


class Field(NamedTuple):
    """A member of a struct: numpy type code, element size and dimension (0 = not an array)."""

    name: str
    code: str
    size: int
    dim: int
    offset: int


class Layout(NamedTuple):
    """The declarations of the header: constants, enums and structs."""

    constants: dict[str, int]
    enums: dict[str, dict[str, int]]
    structs: dict[str, list[Field]]


def preprocess(header: Path) -> str:
    """Return the preprocessed text of a header, in which typedefs replace the includes."""
    text = re.sub(r"^#include.*$", "", header.read_text(), flags=re.MULTILINE)
    done = subprocess.run(
        ["cc", "-E", "-P", "-x", "c", "-"], input=text, capture_output=True, text=True, check=True
    )
    plain = {"uint8_t": "unsigned char", "uint16_t": "unsigned short", "uint32_t": "unsigned int"}
    plain |= {"uint64_t": "unsigned long long", "int32_t": "int", "int64_t": "long long"}
    return "".join(f"typedef {t} {n};\n" for n, t in plain.items()) + done.stdout


def read_field(decl: Any, offset: int) -> Field:
    """Return one member. Raises ValueError if the member is not naturally aligned at ``offset``."""
    kind, count = decl.type, 0
    if isinstance(kind, c_ast.ArrayDecl):
        count, kind = int(kind.dim.value, 0), kind.type
    code, size = CODES[kind.type.names[0]]
    if offset % size:
        raise ValueError(f"{decl.name}: implicit padding at offset {offset}")
    return Field(decl.name, code, size, count, offset)


def read_struct(node: Any) -> list[Field]:
    """Return the members of a struct, in order."""
    fields: list[Field] = []
    end = 0
    for decl in node.decls:
        fields.append(read_field(decl, end))
        end += fields[-1].size * max(1, fields[-1].dim)
    if end % max(f.size for f in fields):
        raise ValueError(f"{node.name}: implicit padding at its end")
    return fields


def read_enum(node: Any) -> dict[str, int]:
    """Return the enumerators of an enum by name; each must have an explicit value."""
    return {item.name: int(item.value.value, 0) for item in node.values.enumerators}


def read_header(header: Path) -> Layout:
    """Return the layout that ``header`` declares; raises ValueError if it is not portable."""
    tree = c_parser.CParser().parse(preprocess(header), str(header))
    layout = Layout({m[1]: int(m[2], 0) for m in DEFINE.finditer(header.read_text())}, {}, {})
    for node in (decl.type for decl in tree.ext):
        if isinstance(node, c_ast.Struct):
            layout.structs[node.name] = read_struct(node)
        elif isinstance(node, c_ast.Enum):
            layout.enums[node.name] = read_enum(node)
    return layout


def camel(name: str) -> str:
    """Return a name in camel case: "kbl_ext_type" as "KblExtType"."""
    return "".join(part.capitalize() for part in name.split("_"))


def common_prefix(names: list[str]) -> str:
    """Return the common prefix of `names`, up to its last underscore."""
    first, last = min(names), max(names)
    same = next((i for i, c in enumerate(first) if c != last[i]), len(first))
    return first[: first.rfind("_", 0, same) + 1]


def render_enum(name: str, items: dict[str, int]) -> list[str]:
    """Return the Python lines of an IntEnum; its members lack the enumerators' common prefix."""
    cut = len(common_prefix(list(items)))
    body = [f"    {key[cut:]} = {value}" for key, value in items.items()]
    return ["", "", f"class {camel(name)}(IntEnum):", f'    """enum {name}."""', "", *body]


def render_field(field: Field) -> str:
    """Return the Python line of a member: an entry of the list that makes the dtype."""
    if field.code == "S":
        return f'        ("{field.name}", "S{field.dim}"),'
    shape = f", ({field.dim},)" if field.dim else ""
    return f'        ("{field.name}", "{field.code}"{shape}),'


def render_struct(name: str, fields: list[Field]) -> list[str]:
    """Return the Python lines of a struct: its dtype and its size in bytes."""
    upper = name.upper()
    size = fields[-1].offset + fields[-1].size * max(1, fields[-1].dim)
    body = ["    [", *map(render_field, fields), "    ]"]
    return ["", f"{upper} = np.dtype(", *body, ")", f"{upper}_SIZE = {size}"]


def render_events(header: Path) -> list[str]:
    """Return the Python lines of the table of events: number, word, comment and traits of each."""
    lines = ["", "", "# Number, word, what its data is, traits (kernel_events.py explains them)."]
    lines.append("KBL_EVENTS: tuple[tuple[int, str, str, tuple[str, ...]], ...] = (")
    for found in EVENT.finditer(header.read_text()):
        traits = tuple((found["traits"] or "").split())
        words = "".join(f'"{trait}", ' for trait in traits).rstrip(" ")
        words = words if len(traits) == 1 else words.rstrip(",")
        row = f'({found["number"]}, "{found["name"].lower()}", "{found["text"] or ""}", ({words}))'
        lines.append(f"    {row},")
    return [*lines, ")"]


TAIL = '''
DTYPES: dict[str, np.dtype[np.void]] = {
%s
}


def in_order(dtype: np.dtype[np.void], order: str) -> np.dtype[np.void]:
    """Return ``dtype`` for a file of byte order ``order``: "<" or ">"."""
    return dtype if order == "<" else dtype.newbyteorder(">")
'''


def render(header: Path) -> str:
    """Return the text of kbl_layout.py for ``header``."""
    layout = read_header(header)
    sha = hashlib.sha256(header.read_bytes()).hexdigest()
    lines = [
        "# SPDX-License-Identifier: MIT",
        '"""Layout of a .kbl file: dtypes, sizes, enums, constants.',
        "",
        "Generated from kmod/kbl.h by kmod/gen_layout.py; do not edit.",
        f"kbl.h SHA-256: {sha}",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from enum import IntEnum",
        "",
        "import numpy as np",
        "",
        *(f"{k} = 0x{v:X}" if "MAGIC" in k else f"{k} = {v}" for k, v in layout.constants.items()),
    ]
    for name, items in layout.enums.items():
        lines += render_enum(name, items)
    lines += render_events(header)
    lines.append("")
    for name, fields in layout.structs.items():
        lines += render_struct(name, fields)
    table = "\n".join(f'    "{name}": {name.upper()},' for name in layout.structs)
    return "\n".join(lines) + "\n" + TAIL % table


def main() -> int:
    """Write skbviewer/records/kbl_layout.py; return 0 on success."""
    parser = argparse.ArgumentParser(description="Generate the Python layout from kbl.h.")
    parser.add_argument("-o", "--output", type=Path, default=OUTPUT)
    args = parser.parse_args()
    args.output.write_text(render(HEADER))
    return 0


if __name__ == "__main__":
    sys.exit(main())
