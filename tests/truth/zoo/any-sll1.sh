# SPDX-License-Identifier: MIT
router
sink server 7 echo=1
tap any router any -y LINUX_SLL
tap vs server vs
mix client 10.9.1.2 10.9.2.2
