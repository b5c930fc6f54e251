# SPDX-License-Identifier: MIT
"""Moves modules to other folders and names, and rewrites everything that names them."""
