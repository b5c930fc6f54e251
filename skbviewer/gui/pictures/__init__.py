# SPDX-License-Identifier: MIT
"""Pictures of a packet and of the timeline, as PNG and SVG."""
