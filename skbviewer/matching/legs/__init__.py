# SPDX-License-Identifier: MIT
"""From skb lifetimes to legs, and where a sniffer could see them."""
