# SPDX-License-Identifier: MIT
pair
sink server 7 echo=1
tap vc client vc
tap vs server vs
mix client 10.9.0.1 10.9.0.2
