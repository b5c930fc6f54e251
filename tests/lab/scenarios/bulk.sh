# SPDX-License-Identifier: MIT
# TCP at full speed; segments are cut as late as possible (here: never).  bulk=: bytes to send
pair
bulk_run bulk ${bulk:-40M}
part client server
