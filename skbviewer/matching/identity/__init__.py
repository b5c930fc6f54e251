# SPDX-License-Identifier: MIT
"""Find skb lifetimes with the same header values as captured packets."""
