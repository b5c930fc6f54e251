# SPDX-License-Identifier: MIT
pair
must $ip -n client link add t0 type ipip remote 10.9.0.2 local 10.9.0.1
must $ip -n server link add t0 type ipip remote 10.9.0.1 local 10.9.0.2
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
