# SPDX-License-Identifier: MIT
# Everything at once, with buffers that are too small and a module that comes and goes.
# The storm takes all that is left: what switches events must come to its turn.
until_stopped() { while [ ! -e /tmp/stop ]; do "$@" > /dev/null 2>&1; done; }
low() { renice -n 19 -p $1 > /dev/null || fail "renice"; }
$ip netns exec client /bin/busybox ping -q -A 10.9.0.2 > /dev/null & pings=$!; low $!
$ip netns exec server /bin/busybox ping -q -A 10.9.0.1 > /dev/null & pings="$pings $!"; low $!
until_stopped /calls /tmp/calls.out & low $!
until_stopped client /traffic udp send 10.9.0.2 1009 & low $!
come_and_go() {
	$ip netns add gone; $ip link add g0 netns gone type veth peer name g1 netns gone
	$ip -n gone addr add 10.8.0.1/24 dev g0; $ip -n gone link set g0 up
	$ip -n gone neigh add 10.8.0.7 lladdr 02:00:00:00:00:07 dev g0; $ip netns del gone
}
until_stopped come_and_go & low $!
for round in 1 2 3; do
	functions=; [ $round -lt 3 ] || { functions=freers.txt; buffers="subbuf_kb=4 n_subbufs=2"; }
	begin storm$round "+all" $functions
	for words in "-net -drop" "+all" "-all" "+all"; do
		echo "$words" > $kbl/events || fail "events: $words"
	done
	end
done
# Probes and tracepoints both see a drop while the latter are registered, one after the other.
buffers=; begin begun "-all +drop +table" freers.txt; end
touch /tmp/stop; kill $pings; wait
