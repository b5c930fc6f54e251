# SPDX-License-Identifier: MIT
"""What the machine did besides handling packets: threads, locks, page faults, queues."""
