# SPDX-License-Identifier: MIT
"""TCP and UDP conversations, and what packets of one say about another."""
