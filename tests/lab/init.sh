#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# The guest's init: two namespaces, one veth pair, one recorded exchange.
# Every step must succeed; the last line of the console says whether.
/bin/busybox --install -s /bin 2>/dev/null
export PATH=/bin
fail() { echo "LAB FAILED: $*"; dmesg | tail -n 40; poweroff -f; sleep 60; }
# start_recorder OUT ARGUMENTS: returns when all functions are armed.
start_recorder() {
	: > /tmp/recorder
	/kblrecord -w "$@" 2> /tmp/recorder & recorder=$!
	i=0; until grep -q recording /tmp/recorder; do
		i=$((i + 1)); [ $i -lt 600 ] || fail "the recorder did not start: $(cat /tmp/recorder)"
		[ -d /proc/$recorder ] || fail "the recorder ended: $(cat /tmp/recorder)"
		sleep 0.1; done
}
must() { "$@" || fail "$*"; }
mkdir -p /proc /sys /dev /tmp /run
mount -t proc p /proc; mount -t sysfs s /sys; mount -t devtmpfs d /dev; mount -t tmpfs t /tmp
mount -t debugfs d /sys/kernel/debug; mkdir -p /run/netns /tmp/out
for m in veth virtio_pci virtio_blk; do must /bin/modprobe $m; done
# Recorded packets must be the scenario's: no IPv6 chatter.
echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6
ip=/bin/ip
hostname lab
must $ip netns add client; must $ip netns add server
for n in client server; do
	$ip netns exec $n sh -c 'echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6
		echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
	must $ip -n $n link set lo up
done
must $ip link add vc netns client type veth peer name vs netns server
must $ip -n client addr add 10.9.0.1/24 dev vc; must $ip -n server addr add 10.9.0.2/24 dev vs
must $ip -n client link set vc up; must $ip -n server link set vs up
must /bin/insmod /kbl.ko
must $ip netns exec server /traffic tcp server 7 &
must $ip netns exec server /traffic udp server 7 &
start_recorder /tmp/out/handshake.kbl -f /probes.txt
$ip netns exec server /bin/tcpdump -Z root -i vs -n -U --immediate-mode --time-stamp-precision=nano \
	-w /tmp/out/handshake.pcap 2> /tmp/sniffer & sniffer=$!
i=0; until grep -q listening /tmp/sniffer; do
	i=$((i + 1)); [ $i -lt 600 ] || { cat /tmp/sniffer; fail "the sniffer did not start"; }
	sleep 0.1; done
sleep 0.3
must $ip -n client neigh flush dev vc; must $ip -n server neigh flush dev vs
must $ip netns exec client /traffic tcp client 10.9.0.2 7
must $ip netns exec client /traffic udp client 10.9.0.2 7
must $ip netns exec client /bin/busybox ping -c 1 10.9.0.2
sleep 0.3
# The sniffer first: what it has seen, the recorder has seen.
kill -INT $sniffer; wait $sniffer || { cat /tmp/sniffer; fail "tcpdump"; }
kill -INT $recorder; wait $recorder || { cat /tmp/recorder; fail "kblrecord"; }
cat /tmp/recorder /tmp/sniffer; cat /sys/kernel/debug/kbl/probes > /tmp/out/probes.state

# The recorder itself: hidden addresses, a count, a reader that is too slow.
echo 2 > /proc/sys/kernel/kptr_restrict
/kblrecord -l -f /few.txt > /tmp/out/hidden.txt 2>&1 && fail "hidden addresses were taken"
echo 0 > /proc/sys/kernel/kptr_restrict
start_recorder /tmp/out/counted.kbl -c 8 -f /few.txt
must $ip netns exec client /bin/busybox ping -q -c 1 10.9.0.2
wait $recorder || fail "kblrecord -c: $(cat /tmp/recorder)"
must /bin/rmmod kbl
must /bin/insmod /kbl.ko subbuf_kb=4 n_subbufs=2
start_recorder /tmp/out/lossy.kbl -f /few.txt
kill -STOP $recorder
must $ip netns exec client /bin/busybox ping -q -A -c 100 10.9.0.2
kill -CONT $recorder; sleep 0.2
must $ip netns exec client /bin/busybox ping -q -c 1 10.9.0.2
kill -INT $recorder; wait $recorder || fail "kblrecord: $(cat /tmp/recorder)"
must /bin/rmmod kbl
dmesg | grep -E 'BUG|WARNING|Oops' && fail "the kernel complained"
cd /tmp/out && must tar cf /dev/vda .; sync
echo "LAB DONE"; poweroff -f; sleep 60
