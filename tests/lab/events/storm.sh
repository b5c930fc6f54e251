# SPDX-License-Identifier: MIT
# Everything at once, with buffers that are too small and a module that comes and goes.
storm=
until_stopped() { while [ ! -e /tmp/stop ]; do "$@" > /dev/null 2>&1; done; }
client /bin/busybox ping -q -A 10.9.0.2 > /dev/null & storm="$storm $!"
server /bin/busybox ping -q -A 10.9.0.1 > /dev/null & storm="$storm $!"
until_stopped /calls /tmp/calls.out & storm="$storm $!"
until_stopped client /traffic udp send 10.9.0.2 1009 & storm="$storm $!"
come_and_go() {
	$ip netns add gone; $ip link add g0 netns gone type veth peer name g1 netns gone
	$ip -n gone addr add 10.8.0.1/24 dev g0; $ip -n gone link set g0 up
	$ip -n gone neigh add 10.8.0.7 lladdr 02:00:00:00:00:07 dev g0; $ip netns del gone
}
until_stopped come_and_go & storm="$storm $!"
for round in 1 2 3; do
	functions=; [ $round -lt 3 ] || { functions=freers.txt; buffers="subbuf_kb=4 n_subbufs=2"; }
	begin storm$round "+all" $functions
	for words in "-net -drop" "+all" "-all" "+all"; do
		echo "$words" > $kbl/events || fail "events: $words"
	done
	end
done
touch /tmp/stop; killall ping; wait
