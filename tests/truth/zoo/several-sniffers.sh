# SPDX-License-Identifier: MIT
pair
sink server 7 echo=1
tap one server vs
tap two server vs
tap three server vs -p
tap vc client vc
mix client 10.9.0.1 10.9.0.2
