#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# The guest's init for one line of the table of overhead.  The kernel's command line says which:
# bench=KIND list=NAME seconds=S pings=N.  What it finds goes to the console as "BENCH word ...".
/bin/busybox --install -s /bin 2>/dev/null
export PATH=/bin
echo; echo "BENCH START"
mkdir -p /proc /sys /dev /tmp /run /disk
mount -t proc p /proc; mount -t sysfs s /sys; mount -t devtmpfs d /dev; mount -t tmpfs t /tmp
mount -t debugfs d /sys/kernel/debug; mount -t tracefs t /sys/kernel/tracing; mkdir -p /run/netns
ip=/bin/ip; kbl=/sys/kernel/debug/kbl; trace=/sys/kernel/tracing; recorder=
fail() { echo "BENCH FAILED $*"; dmesg | tail -n 40; reboot -f; sleep 60; }
must() { "$@" || fail "$*"; }
argument() { sed -n "s/.*\b$1=\([^ ]*\).*/\1/p" /proc/cmdline; }
kind=$(argument bench); list=/list-$(argument list); seconds=$(argument seconds)
pings=$(argument pings); extra=$(argument module | tr , ' ')

# One write a line: the shell's own echo, so bad lines are counted and the rest is armed.
put() {
	awk 'NR==FNR{if($2~/[tT]/&&!($3 in a))a[$3]=$1;next} /^[^#]/&&NF{if($1 in a)$1=$1" 0x"a[$1];print}' \
		/proc/kallsyms $list > /tmp/list
	while read -r text; do echo "$text" > $1 2>/dev/null || bad=$((bad + 1)); done < /tmp/list
	echo "BENCH refused ${bad:-0}"
	echo "stext 0x$(awk '$3=="_stext"{print $1}' /proc/kallsyms)" > $kbl/control || fail "stext"
}

# Functions only: events beside them are a line of their own.
load() { must /bin/insmod /kbl.ko "$@" $extra; echo -all > $kbl/events || fail "events"; }
arm() { put $kbl/probes; echo activate > $kbl/control || fail "activate"; }
# record FILE [OPTION...]
record() {
	: > /tmp/recorder
	/kblrecord -f $list -w "$@" 2> /tmp/recorder & recorder=$!
	until grep -q recording /tmp/recorder; do
		[ -d /proc/$recorder ] || fail "the recorder ended: $(cat /tmp/recorder)"; sleep 0.2; done
}
# graph [GLOB...]: no globs means all functions.
graph() {
	echo 0 > $trace/tracing_on
	for glob; do echo "$glob" >> $trace/set_ftrace_filter; done
	echo function_graph > $trace/current_tracer || fail "function_graph"
	echo "BENCH armed $(grep -c . $trace/enabled_functions)"
	echo 1 > $trace/tracing_on
}
# A sniffer at each end named that keeps nothing: packet sockets are given all packets.
sniff() {
	for end; do
		$ip netns exec ${end% *} /bin/tcpdump -Z root -n -s 96 -B 65536 -i ${end#* } -w /dev/null &
	done
	sleep 2
}
# By number: a name costs the kernel a walk over all functions.
graph_list() {
	awk 'NR==FNR{sub(/#.*/,"");if(NF)want[$1]=1;next} $1 in want{print FNR}' \
		$list $trace/available_filter_functions > /tmp/numbers
	cat /tmp/numbers > $trace/set_ftrace_filter; graph
}
# Nothing segments or merges packets: sampling them demands it.
whole() {
	for place in client:lo client:vc server:lo server:vs; do
		must $ip netns exec ${place%:*} /bin/ethtool -K ${place#*:} gro off gso off tso off \
			tx-udp-segmentation off tx-sctp-segmentation off > /dev/null
		must $ip -n ${place%:*} link set ${place#*:} gso_max_segs 1; done
}
# filter TEXT
filter() { echo "$1" > $kbl/filter || fail "filter"; }
# Prints counters at this moment: hits and misses of all functions, what was written and lost.
mark() {
	echo "BENCH mark $1 uptime $(cut -d' ' -f1 /proc/uptime) idle $(awk '/^cpu /{print $5}' /proc/stat)"
	[ -e $kbl/stats ] || return
	sed "/^#/d; s/^/BENCH stat $1 /" $kbl/stats
	awk -v m="$1" '/^#/{next} $1~/^[0-9]+$/{h+=$5; n+=$6; a+=$3; e+=($4!=0)}
		END{printf "BENCH probes %s hits %d missed %d armed %d errors %d\n", m, h, n, a, e}' \
		$kbl/probes
}

for m in veth virtio_pci virtio_blk; do must /bin/modprobe $m; done
for m in crc32c_generic ext4; do /bin/modprobe $m 2>/dev/null; done
echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6
echo 0 > /proc/sys/kernel/kptr_restrict
must $ip netns add client; must $ip netns add server
for n in client server; do
	$ip netns exec $n sh -c 'echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6
		echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
	must $ip -n $n link set lo up; done
must $ip link add vc netns client type veth peer name vs netns server
must $ip -n client addr add 10.9.0.1/24 dev vc; must $ip -n server addr add 10.9.0.2/24 dev vs
must $ip -n client link set vc up; must $ip -n server link set vs up
must $ip netns exec server /bin/iperf3 -s -D
must $ip netns exec client ping -q -c 1 10.9.0.2 > /dev/null
case $kind in disk|default)
	must mount -t ext4 /dev/vda /disk
	# Written back as it comes, so that the disk's share falls into what is measured.
	echo 4194304 > /proc/sys/vm/dirty_background_bytes ;; esac

# 6.12 is busy with itself for some seconds after its boot.
sleep 10
case $kind in
none) ;;
loaded) load ;;
inactive) load; put $kbl/probes ;;
floor) load floor=1; arm ;;
memory) load subbuf_kb=1024 n_subbufs=256; arm ;;
sniffed) sniff "client vc" "server vs"; load subbuf_kb=1024 n_subbufs=256; arm ;;
sniffed-one) sniff "server vs"; load subbuf_kb=1024 n_subbufs=256; arm ;;
sniffed-none) sniff "client vc" "server vs" ;;
sniffed-one-none) sniff "server vs" ;;
disk) load; record /disk/bench.kbl --no-life ;;
tmpfs) load; record /tmp/bench.kbl --no-life ;;
# Events of one group, and no function.
events-*) load subbuf_kb=1024 n_subbufs=256; : > /tmp/none; list=/tmp/none
	echo "+${kind#events-}" > $kbl/events || fail "events"; arm ;;
default) must /bin/insmod /kbl.ko; record /disk/bench.kbl ;;
whole-none) whole ;;
whole-memory) whole; load subbuf_kb=1024 n_subbufs=256; arm ;;
whole-packets) whole; load subbuf_kb=1024 n_subbufs=256; filter "sample-packets 100"; arm ;;
whole-connections) whole; load subbuf_kb=1024 n_subbufs=256; filter "sample 100"; arm ;;
graph) graph_list ;;
graph-net) set -f; graph $(cat /list-net); set +f ;;
graph-all) graph ;;
*) fail "no such line: $kind" ;;
esac
iperf() { $ip netns exec client /bin/iperf3 -c 10.9.0.2 -t $1 -f k; }
must iperf 1 > /dev/null; sleep 0.3
mark begin
must iperf $seconds | sed 's/^/BENCH iperf /'
mark middle
must $ip netns exec client /bin/ping -f -q -c $pings 10.9.0.2 | sed 's/^/BENCH ping /'
mark end
case $kind in
disk|default|tmpfs) kill -INT $recorder; wait $recorder || fail "kblrecord: $(cat /tmp/recorder)"
	sed 's/^/BENCH recorder /' /tmp/recorder; ls -l /disk /tmp/*.kbl | sed 's/^/BENCH file /' ;;
floor|memory|whole-[mpc]*|events-*) echo deactivate > $kbl/control ;;
graph*) echo 0 > $trace/tracing_on; sed 's/^/BENCH graph /' $trace/per_cpu/cpu0/stats ;;
esac
[ -e $kbl ] && must /bin/rmmod kbl
case $kind in disk|default) must umount /disk ;; esac
dmesg | grep -E 'BUG|WARNING|Oops' && fail "the kernel complained"
echo "BENCH DONE"; reboot -f; sleep 60
