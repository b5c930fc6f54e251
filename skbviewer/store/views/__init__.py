# SPDX-License-Identifier: MIT
"""The documented tables of a session, which are declared once, for SQL and for numpy."""
