# SPDX-License-Identifier: MIT
"""Find the skb lifetimes whose header values equal those of captured packets."""
