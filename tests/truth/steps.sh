# SPDX-License-Identifier: MIT
# What the scripts of the zoo share, beside the lab's steps; read by its init.
witness=/sys/kernel/debug/witness
# A scenario that fails is over; the guest goes on with the next.
zoo_fail() {
	echo "ZOO FAILED: $name: $*"; dmesg | tail -n 8
	echo "$*" > /tmp/done/$name/failed
	exit 1
}
# zoo_words: what the table says of the scenario $name; its modules are loaded
zoo_words() {
	modules= list=probes.txt options= buffers=
	. /zoo/$name.words
	for m in $modules; do /bin/modprobe $m || fail "modprobe $m"; done
}
# zoo_run: the traffic; what the sniffers leave is in $out
zoo_run() {
	out=/tmp/out; rm -rf $out; mkdir -p $out
	: > $out/captures; : > /tmp/programs
	. /zoo/$name.sh
	end_taps
}
# zoo_with NAME: the scenario, recorded with the witness
zoo_with() {
	fail() { zoo_fail "$@"; }
	zoo_words
	load $buffers
	start_recorder /tmp/log.kbl -f /$list $options
	must /bin/insmod /witness.ko
	zoo_run
	echo 0 > $witness/on
	stop_recorder > /tmp/recorder.said
	cp /tmp/stats /tmp/done/$name/stats.with
	unload
	cat $witness/trace > $out/witness.txt; cat $witness/stats > $out/witness.stats
	must /bin/rmmod witness
	rm -f $out/*.said; mv /tmp/log.kbl $out/* /tmp/done/$name/
	: > /tmp/done/$name/whole
}
# zoo_without NAME...: the same traffic again without it, for the counts alone.  Arming takes long,
# so that scenarios of one list follow each other in one recording.
zoo_without() {
	armed=
	for name; do
		zoo_words
		[ "$armed" = "$buffers/$list/$options" ] || {
			[ -z "$armed" ] || { stop_recorder > /tmp/recorder.said; unload; }
			armed="$buffers/$list/$options"
			load $buffers; start_recorder /tmp/log.kbl -f /$list $options; }
		cat $kbl/stats > /tmp/before
		mkdir -p /tmp/done/$name
		( fail() { zoo_fail "$@"; }; zoo_run ) || {
			say "FAILED without: $name"; zoo_end; continue; }
		sleep 0.3
		for n in missed written; do
			echo $n $(($(sed -n "s/^$n //p" $kbl/stats) - $(sed -n "s/^$n //p" /tmp/before)))
		done > /tmp/done/$name/stats.without
		zoo_end
	done
	[ -z "$armed" ] || { stop_recorder > /tmp/recorder.said; unload; }
}
# zoo_end: programs, namespaces and devices of a scenario are gone
zoo_end() {
	for p in $(cat /tmp/programs 2>/dev/null); do kill -KILL $p; done 2>/dev/null
	: > /tmp/programs
	sleep 0.2
	# A card comes back from a deleted namespace, and must not have the name of a scenario's device
	touch /tmp/cards
	while read -r ns device name; do
		$ip -n $ns link set $device down && $ip -n $ns link set $device name $name
	done < /tmp/cards
	rm /tmp/cards
	for n in $(ls /run/netns); do $ip netns del $n; done
	# Devices of the guest's own namespace that a script made
	for d in $(ls /sys/class/net); do
		case $d in lo|bonding_masters) ;; *) $ip link del $d 2>/dev/null ;; esac; done
}
# zoo_clean: nothing of a scenario that may have failed goes on
zoo_clean() {
	zoo_end
	for m in witness kbl; do
		i=0; while grep -q "^$m " /proc/modules; do
			/bin/rmmod $m 2>/dev/null && break
			i=$((i + 1)); [ $i -lt 50 ] || break; killall kblrecord tcpdump 2>/dev/null; sleep 0.3
		done; done
}
# tap CAPTURE NETNS DEVICE ARGUMENTS...: a sniffer
taps=
tap() {
	capture=$1 ns=$2 device=$3; shift 3
	$ip netns exec $ns /bin/tcpdump -Z root -i $device -n -U -B 16384 --immediate-mode \
		--time-stamp-precision=nano -w $out/$capture.pcap "$@" 2> $out/$capture.said &
	pid=$!
	echo $pid >> /tmp/programs
	until_said $out/$capture.said listening $pid "the sniffer"
	index=0; [ $device = any ] ||
		index=$($ip netns exec $ns cat /sys/class/net/$device/ifindex) || fail "no $device"
	inodes=$(ls -l /proc/$pid/fd | sed -n 's/.*socket:\[\([0-9]*\)\]/\1/p' | tr '\n' ' ')
	echo "$capture|$ns|$(readlink /proc/$pid/ns/net | tr -dc 0-9)|$device|$index|$inodes|$*" \
		>> $out/captures
	taps="$taps $capture/$pid"
}
# end_tap CAPTURE/PID; end_taps: all of them, when what was sent has arrived
end_tap() {
	kill -INT ${1#*/}; wait ${1#*/} || fail "tcpdump: $(cat $out/${1%/*}.said)"
	grep ' dropped by kernel' $out/${1%/*}.said | sed "s/^/${1%/*} /" >> $out/dropped
}
end_taps() {
	[ -z "$taps" ] || sleep 0.5
	for t in $taps; do end_tap $t; done
	taps=
}
# sink NETNS PORT... [NAME=VALUE...]: a program that takes what comes; ended by the cleaning
sink() {
	ns=$1; shift; sinks=$((sinks + 1)); : > /tmp/sink.$sinks
	$ip netns exec $ns /stream sink "$@" > /tmp/sink.$sinks 2>&1 & pid=$!
	echo $pid >> /tmp/programs
	until_said /tmp/sink.$sinks ready $pid "the sink"
}
# from NETNS PROGRAM...: must end well within two minutes
from() { ns=$1; shift; must timeout 120 $ip netns exec $ns "$@"; }
# more NETNS PROGRAM...: in the background; all_done waits for them
mores=
more() { ns=$1; shift; timeout 120 $ip netns exec $ns "$@" & mores="$mores $!"; }
all_done() { for m in $mores; do wait $m || fail "a program failed"; done; mores=; }
# small NETNS DEVICE: no segments above the MTU, neither sent nor merged
small() { must $ip netns exec $1 /bin/ethtool -K $2 tso off gso off gro off > /tmp/ethtool; }
# ping_six, ping_four NETNS ADDRESS N: 20 ms apart
pings() { from $1 /bin/busybox ping -q -i 0.02 -c $((($3 - 1) / ${less:-1} + 1)) -W 1 $2 > /tmp/ping; }
# netem NETNS DEVICE WHAT...
netem() { ns=$1 device=$2; shift 2
	must $ip netns exec $ns /bin/tc qdisc add dev $device root netem limit 5000 "$@"; }
# mix NETNS ADDRESS ADDRESS: TCP, UDP of the kernel and with chosen identifications, pings
mix() {
	more $1 /send from=$2 to=$3 n=200 id=cycle:30 sport=4000 gap=1500
	more $1 /send from=$2 to=$3 n=120 id=const:7 sport=4100 gap=2500
	more $1 /stream tcp to=$3 port=7 bytes=90000 chunk=800 gap=1500
	more $1 /stream udp to=$3 port=7 n=150 len=90 gap=2000
	pings $1 $3 30
	all_done
	sleep 0.2
}
# router: client vc - rc, rs - server vs
router() {
	namespace client router server
	join client vc 10.9.1.2/24 router rc 10.9.1.1/24
	join router rs 10.9.2.1/24 server vs 10.9.2.2/24
	must $ip -n client route add default via 10.9.1.1
	must $ip -n server route add default via 10.9.2.1
	echo 1 | $ip netns exec router tee /proc/sys/net/ipv4/ip_forward > /dev/null
	sleep 0.3
}
rule() { ns=$1; shift; must $ip netns exec $ns /bin/iptables-legacy "$@"; }
# helper PROGRAM...: until the cleaning, once it says "ready"; in NETNS
helper() {
	ns=$1; shift; helpers=$((helpers + 1)); : > /tmp/helper.$helpers
	$ip netns exec $ns "$@" > /tmp/helper.$helpers 2>&1 & pid=$!
	echo $pid >> /tmp/programs
	until_said /tmp/helper.$helpers ready $pid "$1"
}
# card NETNS DEVICE MAC ADDRESS: a network card of the guest, found by its MAC.  It is back in the
# guest's own namespace some time after the namespace that had it is gone.
card() {
	i=0; until found=$(grep -l "^$3" /sys/class/net/*/address 2> /tmp/grep); do
		i=$((i + 1)); [ $i -lt 100 ] || fail "no card $3"; sleep 0.1; done
	found=${found%/address}; found=${found##*/}
	must $ip link set $found down
	must $ip link set $found netns $1 name $2
	echo $1 $2 card${3##*:} >> /tmp/cards
	must $ip -n $1 addr add $4 dev $2; must $ip -n $1 link set $2 up
}
