# SPDX-License-Identifier: MIT
"""Find the skb lifetimes in the records of a kernel log."""
