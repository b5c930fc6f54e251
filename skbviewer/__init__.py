# SPDX-License-Identifier: MIT
"""skbviewer joins a packet capture with what the kernel did to each packet."""

__version__ = "0.1.0"
