# SPDX-License-Identifier: MIT
"""From the records of a kernel log to skb lifetimes."""
