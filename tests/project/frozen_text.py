# SPDX-License-Identifier: MIT
"""Names that users depend on, as the sources spell them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .tree import ROOT, project_files

KMOD = ROOT / "kmod"
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
WORD = re.compile(r"[A-Za-z][\w.-]*")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
STRUCT = re.compile(r"struct (kbl_\w+) \{(.*?)\n\};", re.S)
MEMBER = re.compile(r"(\w+)(?:\[\w+\])?;")
SETTINGS = {"value", "setValue", "contains", "remove", "beginGroup"}


def _c(pattern: str) -> Iterator[str]:
    """Yield the C files of that name, without comments."""
    for path in sorted(KMOD.glob(pattern)):
        yield COMMENT.sub(" ", path.read_text(encoding="utf-8"))


def module_words() -> list[str]:
    """Return words that the module reads or writes: of its files, options, events, filters."""
    return sorted(
        {
            text
            for source in _c("kbl_*.[ch]")
            for text in LITERAL.findall(source)
            if WORD.fullmatch(text)
        }
    )


def module_files() -> list[str]:
    """Return files below debugfs and procfs."""
    rows = re.compile(r"struct kbl_file \w+(?:\[\])? = \{(.*?)\};", re.S)
    made = re.compile(r'(?:proc_create|debugfs_create_dir)\("(\w+)"')
    text = "\n".join(_c("kbl_*.c"))
    named = [name for row in rows.findall(text) for name in re.findall(r'\{? ?"(\w+)",', row)]
    return sorted({*named, *made.findall(text)})


def layout() -> list[str]:
    """Return constants of `kbl.h`, and its structures with their members."""
    (text,) = _c("kbl.h")
    names = set(re.findall(r"\b(KBL_\w+)\b", text))
    for struct, body in STRUCT.findall(text):
        names |= {f"{struct}.{member}" for member in MEMBER.findall(body)}
    return sorted(names)


def recorder_options() -> list[str]:
    """Return options of kblrecord; those with a colon take a value."""
    (text,) = _c("rec_options.c")
    long = re.findall(r'\{ "([\w-]+)", (?:required_argument|no_argument)', text)
    found = re.search(r'getopt_long\(argc, argv, "([^"]+)"', text)
    assert long and found, "rec_options.c lists its options in another way"
    return sorted([f"--{name}" for name in long] + [f"-{o}" for o in re.findall(r"\w:?", found[1])])


def make_targets() -> list[str]:
    """Return targets and variables of kmod/Makefile, and what DKMS builds."""
    text = (KMOD / "Makefile").read_text(encoding="utf-8")
    dkms = re.findall(r'^(\w+(?:\[0\])?="[^"$#]*")$', (KMOD / "dkms.conf").read_text(), re.M)
    targets = re.findall(r"^([a-z]+):", text, re.M)
    variables = [f"{name}=" for name in re.findall(r"^(\w+) \?=", text, re.M)]
    objects = re.findall(r"^obj-m := (\w+\.o)", text, re.M)
    return sorted(targets + variables + objects + dkms)


def _modules() -> Iterator[ast.Module]:
    for name in project_files():
        if name.startswith("skbviewer/gui/") and name.endswith(".py"):
            yield ast.parse((ROOT / name).read_text(encoding="utf-8"))


def _constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        if not isinstance(node, ast.Assign):
            continue
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(target.elts, value.elts, strict=False))
        else:
            pairs = [(target, value)]
        for left, right in pairs:
            if isinstance(left, ast.Name) and isinstance(right, ast.Constant):
                yield left.id, str(right.value)


def setting_keys() -> list[str]:
    """Return keys in the users' settings; {} stands for what is put in."""
    trees = list(_modules())
    found: set[str] = set()
    for tree in trees:
        known = dict(pair for other in trees for pair in _constants(other))
        known |= dict(_constants(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args and _of_settings(node.func):
                found.add(_text(node.args[0], known))
    return sorted(found - {""})


def _of_settings(call: ast.expr) -> bool:
    if not isinstance(call, ast.Attribute) or call.attr not in SETTINGS:
        return False
    return ast.unparse(call.value) in ("settings", "QSettings()")


def _text(node: ast.expr, known: dict[str, str]) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_part(part, known) for part in node.values)
    return known.get(ast.unparse(node), "")


def _part(part: ast.expr, known: dict[str, str]) -> str:
    if isinstance(part, ast.FormattedValue):
        return known.get(ast.unparse(part.value), "{}")
    return str(part.value) if isinstance(part, ast.Constant) else ""


def setting_words() -> list[str]:
    """Return the parts of settings' values: columns, panes, formats of time, the last view."""
    enums, calls, state = {"TimeFormat", "Precision", "Theme"}, {"Column", "Pane"}, {"ViewState"}
    found = set()
    for tree in _modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name in enums:
                members = [n.targets[0] for n in node.body if isinstance(n, ast.Assign)]
                found |= {f"{node.name}.{ast.unparse(member)}" for member in members}
            elif isinstance(node, ast.ClassDef) and node.name in state:
                fields = [n.target for n in node.body if isinstance(n, ast.AnnAssign)]
                found |= {f"{node.name}.{ast.unparse(field)}" for field in fields}
            elif isinstance(node, ast.Call) and node.args and ast.unparse(node.func) in calls:
                first = node.args[0]
                if isinstance(first, ast.Constant) and str(first.value).islower():
                    found.add(f"{ast.unparse(node.func)} {first.value!s}")
    return sorted(found)


def filter_fields() -> list[str]:
    """Return the fields in docs/display-filter.md; another test compares them with the filter's."""
    text = (ROOT / "docs/display-filter.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `([\w.]+)` \|", text.partition("## Fields\n")[2], re.M)
