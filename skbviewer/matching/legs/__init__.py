# SPDX-License-Identifier: MIT
"""Cut skb lifetimes into legs, and find where and when a sniffer can have captured each leg."""
