# SPDX-License-Identifier: MIT
"""Functions are found in the source by the scanner's tables."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from skbviewer.analysis.words.source_map import Place, SourceMap, load
from skbviewer.records import BadInput

SOURCE = """struct sk_buff;

int ip_rcv(struct sk_buff *skb)
{
	return 0;
}
"""


@pytest.fixture
def scanned(tmp_path: Path) -> SourceMap:
    """Run the real scanner on a tree with one file, and return its map."""
    tree = tmp_path / "linux"
    (tree / "net/ipv4").mkdir(parents=True)
    (tree / "net/ipv4/ip_input.c").write_text(SOURCE)
    out = tmp_path / "scan.json"
    words = ["scan", str(tree), "--dir", "net", "--json", str(out), "--no-cache", "-q"]
    done = subprocess.run([sys.executable, "-m", "scanner.cli", *words], capture_output=True)
    assert done.returncode in (0, 1), done.stderr
    return load(out, tree)


def test_file_line_layer_and_text(scanned: SourceMap) -> None:
    assert scanned.definitions("ip_rcv") == (Place("net/ipv4/ip_input.c", 3, 6, "ip"),)
    assert scanned.layer("ip_rcv") == "ip"
    assert scanned.text(scanned.definitions("ip_rcv")[0]) == SOURCE
    assert scanned.definitions("no_such") == () and scanned.layer("no_such") is None


@pytest.mark.parametrize("name", ["ip_rcv.constprop.0", "ip_rcv.isra.3.part.0", "ip_rcv.cold"])
def test_variants_that_the_compiler_made(scanned: SourceMap, name: str) -> None:
    assert scanned.layer(name) == "ip"


def test_definitions_in_c_files_come_first() -> None:
    header, file = Place("include/net/ip.h", 1, 2, "ip"), Place("net/ipv4/x.c", 5, 6, "ip")
    assert SourceMap({"f": [header, file]}).definitions("f") == (file, header)


def test_what_is_not_there_or_outside_is_said(scanned: SourceMap, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    for file, why in (("net/gone.c", "cannot read"), ("../secret", "outside the kernel source")):
        with pytest.raises(BadInput, match=why):
            scanned.text(Place(file, 1, 1, "ip"))
    with pytest.raises(BadInput, match="folder of the kernel source"):
        SourceMap({}).text(Place("net/a.c", 1, 1, "ip"))


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", json.dumps({"functions": [{"function": "f"}]}), "\udcff"]
)
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scan.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInput, match="skbscan"):
        load(path)
    with pytest.raises(BadInput, match="cannot read"):
        load(tmp_path / "gone.json")
