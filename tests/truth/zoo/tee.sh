# SPDX-License-Identifier: MIT
pair
namespace mirror
join server sm 10.9.3.1/24 mirror ms 10.9.3.2/24
rule server -t mangle -A PREROUTING -i vs -p udp -j TEE --gateway 10.9.3.2
sink server 7 echo=1
sleep 0.3
from server /bin/busybox ping -q -c 2 10.9.3.2
tap vs server vs
tap ms mirror ms
more client /send from=10.9.0.1 to=10.9.0.2 n=300 id=const:3
more client /send from=10.9.0.1 to=10.9.0.2 n=200 id=cycle:9 sport=4100 gap=2000
from client /stream udp to=10.9.0.2 port=7 n=150 len=90
all_done
