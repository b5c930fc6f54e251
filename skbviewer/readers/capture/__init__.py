# SPDX-License-Identifier: MIT
"""Captures (pcap, pcapng): from bytes to the columns of packets."""
