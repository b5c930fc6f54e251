# SPDX-License-Identifier: MIT
"""Functions are shown in the layer of the stack that they belong to."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

from skbviewer.analysis import layer_of, layers
from skbviewer.analysis.words.function_layers import _fits


@pytest.mark.parametrize(
    ("function", "like"),
    [("tcp_v4_rcv", "tcp_sendmsg"), ("ip_rcv", "ip_output"), ("veth_xmit", "loopback_xmit")],
)
def test_functions_of_one_part_share_a_layer(function: str, like: str) -> None:
    assert layer_of(function) == layer_of(like) != "other"


def test_parts_of_the_stack_are_different_layers() -> None:
    names = ("veth_xmit", "nf_hook_slow", "ip_rcv", "tcp_v4_rcv")
    assert len({layer_of(name) for name in names}) == len(names)


def test_an_unknown_function_is_other() -> None:
    assert layer_of("frobnicate_the_packet") == "other"


def test_every_layer_of_a_function_has_colours() -> None:
    styles = {style.name: style for style in layers()}
    for function in ("veth_xmit", "ip_rcv", "tcp_v4_rcv", "frobnicate_the_packet"):
        style = styles[layer_of(function)]
        assert style.colour.startswith("#")
        assert style.colour_dark.startswith("#")


def test_the_quick_way_to_compare_is_fnmatchs() -> None:
    names = ["ip_rcv", "ip_rcv_core", "ip", "xip_rcv", "", "a[b", "ip_rcv?"]
    for pattern in ("ip_rcv", "ip_*", "*", "*_rcv", "ip_?cv", "i*v", "[i]p_rcv", "ip_rcv*"):
        assert [_fits(name, pattern) for name in names] == [
            fnmatchcase(name, pattern) for name in names
        ]
