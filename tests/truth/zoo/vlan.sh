# SPDX-License-Identifier: MIT
pair
for end in client/vc/1 server/vs/2; do
	ns=${end%%/*} n=${end##*/} d=${end#*/}; d=${d%/*}
	must $ip -n $ns link add $d.100 link $d type vlan id 100
	must $ip -n $ns addr add 10.9.100.$n/24 dev $d.100
	must $ip -n $ns link set $d.100 up
done
sleep 0.3
sink server 7 echo=1
tap vc client vc
tap vc100 client vc.100
tap vs server vs
tap vs100 server vs.100
more client /stream udp to=10.9.0.2 port=7 n=50 len=90 gap=4000
mix client 10.9.100.1 10.9.100.2
