# SPDX-License-Identifier: MIT
"""What all consistent assignments of packets to tap moments share."""
