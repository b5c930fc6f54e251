# SPDX-License-Identifier: MIT
"""Consistent pseudonyms for addresses and host names, in arrays, texts and packets."""

from .pseudonyms import KEY_BYTES, Pseudonyms, key_of, random_key

__all__ = ["KEY_BYTES", "Pseudonyms", "key_of", "random_key"]
