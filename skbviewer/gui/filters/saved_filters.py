# SPDX-License-Identifier: MIT
"""The display filters that the settings keep: recent filters, and filters with a button."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QSettings

RECENT, BUTTONS = "filter/recent", "filter/buttons"
MOST_RECENT = 20


class Saved(NamedTuple):
    """A filter with a button."""

    label: str
    text: str


def recent() -> list[str]:
    """Return the filters that were applied last, the latest first."""
    return _texts(RECENT)


def remember(text: str) -> None:
    """Put a filter at the top of recent(); a blank filter is ignored."""
    text = text.strip()
    if text:
        found = [text, *(other for other in recent() if other != text)]
        QSettings().setValue(RECENT, found[:MOST_RECENT])


def forget_recent() -> None:
    """Remove all recent filters."""
    QSettings().remove(RECENT)


def buttons() -> list[Saved]:
    """Return the filters that have a button, in the order of the buttons."""
    words = _texts(BUTTONS)
    return [Saved(*pair) for pair in zip(words[::2], words[1::2], strict=False)]


def save_button(saved: Saved, place: int | None = None) -> None:
    """Save a filter with a new button, or in place of button number `place`."""
    found = buttons()
    if place is None:
        found.append(saved)
    else:
        found[place] = saved
    _keep(found)


def remove_button(place: int) -> None:
    """Remove button number `place` and its filter."""
    found = buttons()
    del found[place]
    _keep(found)


def _keep(found: list[Saved]) -> None:
    QSettings().setValue(BUTTONS, [word for saved in found for word in saved])


def _texts(key: str) -> list[str]:
    value = QSettings().value(key)
    if isinstance(value, str):  # QSettings returns a list of one as its element
        return [value]
    return [str(word) for word in value] if isinstance(value, list) else []
