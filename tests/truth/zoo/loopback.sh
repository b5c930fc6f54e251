# SPDX-License-Identifier: MIT
namespace client
sink client 7 echo=1
tap lo client lo
more client /send from=127.0.0.1 to=127.0.0.2 n=150 id=const:7 gap=2000
more client /send from=127.0.0.1 to=127.0.0.1 n=100 id=cycle:9 gap=2000 sport=4100
more client /stream udp to=127.0.0.1 port=7 n=100 len=90 gap=2000
pings client 127.0.0.1 40
from client /stream tcp to=127.0.0.1 port=7 bytes=80000 chunk=700 gap=1000
all_done
