# SPDX-License-Identifier: MIT
"""Which skb lifetimes have the header values of which packets."""
