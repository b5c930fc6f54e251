# SPDX-License-Identifier: MIT
pair
sink server 7 echo=1
tap in server vs -Q in
tap out server vs -Q out
tap client-in client vc -Q in
netem client vc duplicate 10%
mix client 10.9.0.1 10.9.0.2
