# SPDX-License-Identifier: MIT
"""The documented tables of a session: one declaration, read by SQL and as numpy arrays."""
