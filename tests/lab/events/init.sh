#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# The guest's init: one of each event, recorded as raw slots, without kblrecord.
# Each case is a recording of its own in /tmp/out/CASE: cpu0, cpu1, stats, ....
/bin/busybox --install -s /bin 2>/dev/null
export PATH=/bin
. /scenarios/steps.sh
mkdir -p /proc /sys /dev /tmp /run
mount -t proc p /proc; mount -t sysfs s /sys; mount -t devtmpfs d /dev; mount -t tmpfs t /tmp
mount -t debugfs d /sys/kernel/debug; mkdir -p /run/netns /tmp/out
for m in $(cat /modules); do must /bin/modprobe $m; done
must /bin/rmmod sch_netem
must cp /proc/kallsyms /tmp/out/kallsyms
stext="stext 0x$(grep ' _stext$' /proc/kallsyms | cut -d ' ' -f 1)"
control() { echo "$*" > $kbl/control || fail "control: $*"; }
# While inactive nothing is registered.
idle() { grep -v '^#' $kbl/events | grep '=1' && fail "registered while inactive"; }
# begin CASE EVENTS [PROBES]: the module, active.  It is loaded before, as its own
# loading is no event of the case.
begin() {
	case=$1; out=/tmp/out/$1; mkdir $out; say "$case"
	load ${buffers:-subbuf_kb=1024 n_subbufs=8}
	control "$stext"
	echo "$2" > $kbl/events || fail "events: $2"
	idle
	[ -z "$3" ] || cat /$3 > $kbl/probes || fail "probes: $3"
	control activate
	cat $kbl/events > $out/events
	cat $kbl/probes > $out/probes
}
end() {
	control deactivate
	idle
	for f in $kbl/cpu[0-9]*; do cat $f > $out/${f##*/}; done
	cat $kbl/stats > $out/stats; cat $kbl/reasons > $out/reasons
	unload
}
must $ip link set lo up
namespace client server
must $ip link add vc netns client address 02:00:00:00:00:01 type veth \
	peer name vs netns server address 02:00:00:00:00:02
must $ip -n client addr add 10.9.0.1/24 dev vc; must $ip -n server addr add 10.9.0.2/24 dev vs
must $ip -n client link set vc up; must $ip -n server link set vs up
must client /bin/busybox ping -q -c 1 10.9.0.2
for n in client server; do
	$ip netns exec $n readlink /proc/self/ns/net | tr -cd 0-9 > /tmp/out/$n.netns
done
for s in $(echo "$cases" | tr , ' '); do . /$s.sh; done
say "the end"
dmesg > /tmp/out/dmesg.txt
dmesg | grep -E 'BUG|WARNING|Oops|Call Trace|refcount|stall|hung' && fail "the kernel complained"
cd /tmp/out && must tar cf /dev/vda .; sync
echo "LAB DONE"; reboot -f; sleep 60
