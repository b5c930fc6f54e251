# SPDX-License-Identifier: MIT
# The reader's page faults wait for the lock of its address space, which another thread holds.
acquainted
helper server /faulting 7 $(pick 96 160)
tap vs server vs
from client /stream tcp to=10.9.0.2 port=7 bytes=60000 chunk=1000 gap=4000
sleep 0.2
