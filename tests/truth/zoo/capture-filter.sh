# SPDX-License-Identifier: MIT
pair
sink server 7 echo=1
tap udp server vs udp
tap tcp server vs tcp
tap short client vc -s 60
mix client 10.9.0.1 10.9.0.2
mix client 10.9.0.1 10.9.0.2
