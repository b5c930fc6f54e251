# SPDX-License-Identifier: MIT
pair
for ns in client server; do
	must $ip -n $ns link add t0 type wireguard
	/bin/wg genkey > /tmp/$ns.key; /bin/wg pubkey < /tmp/$ns.key > /tmp/$ns.public
done
must client /bin/wg set t0 listen-port 5555 private-key /tmp/client.key peer $(cat /tmp/server.public) \
	allowed-ips 10.9.50.0/24 endpoint 10.9.0.2:5555
must server /bin/wg set t0 listen-port 5555 private-key /tmp/server.key peer $(cat /tmp/client.public) \
	allowed-ips 10.9.50.0/24 endpoint 10.9.0.1:5555
for end in client/1 server/2; do
	must $ip -n ${end%/*} addr add 10.9.50.${end#*/}/24 dev t0
	must $ip -n ${end%/*} link set t0 up
done
sleep 0.3
sink server 7 echo=1
tap vs server vs
tap t0-client client t0
tap t0-server server t0
mix client 10.9.50.1 10.9.50.2
