# SPDX-License-Identifier: MIT
"""Names of layers with their colours."""

from __future__ import annotations

from collections.abc import Mapping

from .html_markup import Content, element
from .report_contents import Facts


def layer_numbers(facts: Facts) -> dict[str, int]:
    """Return a number for each layer; the style sheet's class of a layer contains its number."""
    return {layer.name: number for number, layer in enumerate(facts.layers)}


def layer_chip(name: str, numbers: Mapping[str, int]) -> Content:
    """Return the HTML of a layer's name, with a square of its colour in front.

    `numbers` is the result of layer_numbers().
    """
    if name not in numbers:
        return name
    chip = element("span", class_=f"chip l{numbers[name]}")
    return element("span", chip, name, class_="nb")
