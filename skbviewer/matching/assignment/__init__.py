# SPDX-License-Identifier: MIT
"""Find what all consistent assignments of packets to tap moments have in common."""
