# SPDX-License-Identifier: MIT
"""Cut skb lifetimes into legs, and find where a sniffer could see them."""
