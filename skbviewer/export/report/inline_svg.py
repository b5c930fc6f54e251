# SPDX-License-Identifier: MIT
"""A picture as inline SVG that has the colours of both themes.

Input: the same picture as SVG in light and in dark colours. Output: one `svg` element. Colours that
differ between the two pictures become classes, so that the page's style sheet chooses between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from .html_markup import Markup

INHERITED = frozenset({
    "fill", "stroke", "fill-opacity", "stroke-opacity", "stroke-width", "stroke-dasharray",
    "fill-rule", "transform", "clip-path", "mask", "opacity", "font-weight", "font-size",
})  # fmt: skip
OWN = INHERITED | {
    "x", "y", "width", "height", "d", "points", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "ry",
}  # fmt: skip
COLOURS = ("fill", "stroke")
REFERENCE = re.compile(r"url\(#([^)]*)\)")
DEFAULTS = {
    "transform": "matrix(1,0,0,1,0,0)", "fill-opacity": "1", "stroke-opacity": "1",
    "stroke-width": "1", "font-weight": "400", "stroke": "none",
}  # fmt: skip
OF_TEXT = frozenset({"font-weight", "font-size"})
OF_LINES = frozenset({"stroke-opacity", "stroke-width", "stroke-dasharray"})
SIZE = "12"  # of most texts
Node = ElementTree.Element


class Palette:
    """Pairs of a light and a dark colour, and the class of each pair."""

    def __init__(self) -> None:
        self._classes: dict[tuple[str, str, str], str] = {}

    def class_of(self, what: str, light: str, dark: str) -> str:
        """Return the CSS class that sets `what` (fill or stroke) to the colour of the theme."""
        number = len(self._classes)
        return self._classes.setdefault((what, light, dark), f"c{number}")

    def rules(self, dark: bool) -> str:
        """Return the style rules of all classes, with the dark or the light colours."""
        return "".join(
            f".{name}{{{what}:{colours[dark]}}}" for (what, *colours), name in self._classes.items()
        )


def inline(light: bytes, dark: bytes, prefix: str, palette: Palette, title: str) -> Markup:
    """Return a picture, given in `light` and `dark` colours, as one `svg` element.

    `prefix` makes the ids unique in a page; `title` is for screen readers. Qt may group the shapes
    of two equal pictures differently if their colours differ, so groups are resolved first.
    """
    one, other = (ElementTree.fromstring(picture) for picture in (light, dark))
    shapes, darker = list(_shapes(one, {})), list(_shapes(other, {}))
    if [shape.tag for shape in shapes] != [shape.tag for shape in darker]:
        raise ValueError("the dark picture differs from the light picture in more than colours")
    box = {"viewBox": one.get("viewBox", ""), "font-size": SIZE}
    root = Node("svg", box | {"class": "path", "role": "img", "aria-label": title})
    found = [*_definitions(one, prefix), *_definitions(other, prefix)]
    ElementTree.SubElement(root, "defs").extend({node.get("id"): node for node in found}.values())
    for shape, night in zip(shapes, darker, strict=True):
        _colour(shape, night, prefix, palette)
        root.append(shape)
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _local(name: str) -> str:
    """Return an XML name without its namespace."""
    return name.rpartition("}")[2]


def _shapes(node: Node, above: dict[str, str]) -> Iterator[Node]:
    """Yield the painted shapes; each has the attributes of the groups around it."""
    own = {_local(k): v for k, v in node.attrib.items()}
    here = above | {k: v for k, v in own.items() if k in INHERITED}
    for child in node:
        name = _local(child.tag)
        if name == "g":
            yield from _shapes(child, here)
        elif name not in ("defs", "title", "desc"):
            attributes = here | {_local(k): v for k, v in child.attrib.items()}
            unused = OF_LINES if attributes.get("stroke", "none") == "none" else frozenset()
            unused |= frozenset() if name == "text" else OF_TEXT
            made = Node(name, {
                k: v for k, v in attributes.items()
                if k in OWN and k not in unused and DEFAULTS.get(k) != v
            })  # fmt: skip
            if made.get("font-size") == SIZE:
                del made.attrib["font-size"]
            made.text = child.text if name == "text" else None
            yield made


def _definitions(picture: Node, prefix: str) -> Iterator[Node]:
    """Yield patterns and masks, with the prefix in front of their ids.

    The light and the dark picture have the same masks.
    """
    for defs in picture:
        if _local(defs.tag) != "defs":
            continue
        for node in defs.iter():
            node.tag, node.tail, node.text = _local(node.tag), None, None
            for name, value in list(node.attrib.items()):
                if name == "id":
                    node.set(name, prefix + value)
                else:
                    node.set(name, REFERENCE.sub(rf"url(#{prefix}\1)", value))
        yield from defs


def _colour(shape: Node, night: Node, prefix: str, palette: Palette) -> None:
    """Replace a shape's colours with CSS classes."""
    classes = []
    for name in COLOURS:
        light, dark = shape.get(name), night.get(name)
        if light is None or dark is None or light == dark == "none":
            continue
        del shape.attrib[name]
        pair = (REFERENCE.sub(rf"url(#{prefix}\1)", colour) for colour in (light, dark))
        classes.append(palette.class_of(name, *pair))
    if classes:
        shape.set("class", " ".join(classes))
