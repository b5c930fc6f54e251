# SPDX-License-Identifier: MIT
"""Packets with kernel fields for Wireshark: pcapng, and a Lua script that reads the fields."""
