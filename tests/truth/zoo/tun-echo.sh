# SPDX-License-Identifier: MIT
namespace client
helper client /echo tun t0
must $ip -n client link set t0 up; must $ip -n client addr add 10.9.5.1/24 dev t0
sink client 7
tap t0 client t0
more client /send from=10.9.5.1 to=10.9.5.2 n=200 id=const:7 gap=2000
more client /stream udp to=10.9.5.3 port=7 n=150 len=90 gap=2000
from client /send from=10.9.5.1 to=10.9.5.4 n=100 id=cycle:9 gap=2000 sport=4100
all_done
