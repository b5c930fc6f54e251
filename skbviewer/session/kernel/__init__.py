# SPDX-License-Identifier: MIT
"""What the kernel did, as an open session answers it."""
