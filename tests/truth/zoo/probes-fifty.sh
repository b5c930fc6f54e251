# SPDX-License-Identifier: MIT
router
sink server 7 echo=1
tap vc client vc
tap rc router rc
tap rs router rs
tap vs server vs
mix client 10.9.1.2 10.9.2.2
