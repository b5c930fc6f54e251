# SPDX-License-Identifier: MIT
# IPsec encrypts small packets and some large ones: a cause that no rule covers.
acquainted
must $ip -n client link set vc mtu 60000; must $ip -n server link set vs mtu 60000
key=0x0123456789abcdef0123456789abcdef
for ns in client server; do
	must $ip -n $ns xfrm state add src 10.9.0.1 dst 10.9.0.2 proto esp spi 0x101 mode transport \
		auth 'hmac(sha256)' ${key}${key#0x} enc 'cbc(aes)' $key
	dir=in; [ $ns = client ] && dir=out
	must $ip -n $ns xfrm policy add src 10.9.0.1 dst 10.9.0.2 dir $dir \
		tmpl src 10.9.0.1 dst 10.9.0.2 proto esp mode transport
done
sink server 7 9
tap vs server vs
more client /stream udp to=10.9.0.2 port=7 n=60 len=100 gap=8000
from client /stream udp to=10.9.0.2 port=9 n=$(pick 12 20) len=$(pick 30000 50000) gap=24000
all_done
sleep 0.2
