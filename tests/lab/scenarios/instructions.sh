# SPDX-License-Identifier: MIT
# What the plugin of tests/lab/instructions counts: loops of known length with and without probes, and
# a recording.  Its files are numbered in the order of "announce end".
loop=/sys/kernel/debug/kbltest/loop
loops="kbltest_outer kbltest_middle kbltest_inner"
# counted COMMAND...: count while it runs
counted() { /announce begin; "$@"; /announce end; }
# Twice as many rounds the second time: their difference has nothing of what is around the rounds.
spin() { for n; do echo "1000 $n" > $loop || fail "kbltest: loop"; done; }
spin_counted() { counted spin 50; counted spin 100; }
must /bin/insmod /kbltest.ko
must /announce symbols watch $loops
spin_counted
load
for f in $loops; do
	echo "$f skb@0 void module=kbltest" > $kbl/probes || fail "$f was refused"
done
activate
must /announce symbols watch $loops
spin_counted
echo deactivate > $kbl/control || fail "deactivate"
unload
must /bin/rmmod kbltest
# Datagrams of known content: first without the module, then recorded.
datagrams() {
	client /traffic udp burst 10.9.0.2 9 || fail "burst"
}
pair
for end in client/vc server/vs; do
	must $ip netns exec ${end%/*} /bin/ethtool -K ${end#*/} gso off tso off gro off > /tmp/ethtool
done
datagrams
counted datagrams
load subbuf_kb=512 n_subbufs=96
start_recorder /tmp/out/instructions.kbl --code -f /${functions:-probes.txt}
must /announce symbols accesses ip_rcv __udp4_lib_rcv tcp_v4_rcv
traffic() {
	serve server tcp server 7
	must client /traffic tcp client 10.9.0.2 7
	served
	must client /bin/busybox ping -c 3 -i 0.1 10.9.0.2
	server /bin/iperf3 -s -1 --forceflush > /tmp/iperf & server=$!
	until_said /tmp/iperf listening $server "iperf3"
	must client /bin/iperf3 -c 10.9.0.2 -n ${bytes:-200K} > /tmp/iperf.client
	served
}
counted datagrams
counted traffic
stop_recorder
unload
part client server
