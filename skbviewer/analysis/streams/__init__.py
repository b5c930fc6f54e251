# SPDX-License-Identifier: MIT
"""TCP and UDP conversations, and links between packets."""
