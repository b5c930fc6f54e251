# SPDX-License-Identifier: MIT
"""TCP and UDP conversations, and the relations between packets."""
