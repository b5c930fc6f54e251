# SPDX-License-Identifier: MIT
"""What the machine did beside packets: threads, locks, page faults, lengths of queues."""
