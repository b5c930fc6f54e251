# SPDX-License-Identifier: MIT
"""Where the time of legs and packets went, and which legs are incomplete."""
