#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# The init of guests that provoke causes.  runs=NAME.SEED,...: each is recorded, and leaves an
# archive on the disk: the log, the captures, and what the kernel itself counted.
/bin/busybox --install -s /bin 2>/dev/null
export PATH=/bin
. /scenarios/steps.sh
. /steps.sh
mkdir -p /proc /sys /dev /tmp /run
mount -t proc p /proc; mount -t sysfs s /sys; mount -t devtmpfs d /dev
mount -t tmpfs -o size=80% t /tmp
mount -t debugfs d /sys/kernel/debug; mkdir -p /run/netns
for m in veth virtio_pci virtio_blk; do must /bin/modprobe $m; done
echo /bin/modprobe > /proc/sys/kernel/modprobe
echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6
hostname lab
exec 3> /dev/vda
# pick LOW HIGH: a number that depends on the seed and on both
pick() { echo $(($1 + (seed * 7919 + $1 * 31 + $2 * 17) % ($2 - $1 + 1))); }
# acquainted: two hosts that know each other's hardware addresses
acquainted() {
	pair
	neighbours client vc 10.9.0.1 server vs 10.9.0.2
}
# neighbours NETNS DEVICE ADDRESS NETNS DEVICE ADDRESS: they know each other's hardware addresses
neighbours() {
	must $ip -n $1 neigh replace $6 dev $2 nud permanent \
		lladdr $($ip netns exec $4 cat /sys/class/net/$5/address)
	must $ip -n $4 neigh replace $3 dev $5 nud permanent \
		lladdr $($ip netns exec $1 cat /sys/class/net/$2/address)
}
# track_connections MOST: the server tracks at most so many, in few hash buckets
track_connections() {
	most=$1
	rule server -t nat -A POSTROUTING -o nowhere -j MASQUERADE
	echo 512 > /sys/module/nf_conntrack/parameters/hashsize || fail "hashsize"
	echo $most > /proc/sys/net/netfilter/nf_conntrack_max || fail "nf_conntrack_max"
}
# counters: what the kernel counted, by namespace
counters() {
	for n in $(ls /run/netns); do
		for f in snmp netstat; do $ip netns exec $n cat /proc/net/$f; done > $out/$n.counters
		$ip netns exec $n /bin/tc -s qdisc show > $out/$n.qdisc
		$ip -n $n -s -s link > $out/$n.links
		$ip netns exec $n cat /proc/net/stat/nf_conntrack > $out/$n.connections 2>&1 || true
		$ip netns exec $n /bin/iptables-legacy -nvxL > $out/$n.rules 2>&1 || true
	done
	cat /proc/net/softnet_stat > $out/softnet
}
# ran THREAD WHEN: how long the thread of each CPU has run
ran() {
	for p in /proc/[0-9]*; do
		grep -q "^$1/" $p/comm 2> /tmp/grep && cat $p/schedstat
	done > $out/$1.$2
}
# one NAME SEED
one() {
	fail() { zoo_fail "$@"; }
	name=$1 seed=$2
	# All but syscalls: nothing that is judged needs each system call of the guest.
	groups=net,qdisc,sock,copy,drop,syscall,irq,softirq,table,sched,lock,fault,queue
	modules= list=causes.txt options="-e $groups" buffers="subbuf_kb=256 n_subbufs=64"
	. /causes/$name.words
	for m in $modules; do /bin/modprobe $m || fail "modprobe $m"; done
	load $buffers
	start_recorder /tmp/log.kbl -f /$list $options
	out=/tmp/out; rm -rf $out; mkdir -p $out
	: > $out/captures; : > /tmp/programs
	ran ksoftirqd 0
	. /causes/$name.sh
	end_taps; counters; ran ksoftirqd 1
	stop_recorder > /tmp/recorder.said
	unload
	rm -f $out/*.said; mkdir -p /tmp/done/$name.$seed
	mv /tmp/log.kbl $out/* /tmp/done/$name.$seed/
	: > /tmp/done/$name.$seed/whole
}
for run in $(echo "$runs" | tr , ' '); do
	say "$run"
	name=$run
	rm -rf /tmp/done; mkdir -p /tmp/done/$run
	( one ${run%.*} ${run##*.} ) || say "FAILED: $run"
	zoo_clean
	tar cf - -C /tmp/done . >&3; sync
done
say "the end"
echo "LAB DONE"; reboot -f; sleep 60
