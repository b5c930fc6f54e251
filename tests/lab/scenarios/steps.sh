# SPDX-License-Identifier: MIT
# What the steps of the guest share; read by init.
ip=/bin/ip
kbl=/sys/kernel/debug/kbl
fail() { echo "LAB FAILED: $*"; dmesg | tail -n 60; reboot -f; sleep 60; }
must() { "$@" || fail "$*"; }
say() { echo "[$(cut -d ' ' -f 1 /proc/uptime)] $*"; }
# until_said FILE PATTERN PID WHAT: wait for a line of a program's output.
until_said() {
	i=0; until grep -q "$2" "$1" 2>/dev/null; do
		i=$((i + 1)); [ $i -lt 6000 ] || fail "$4 did not start: $(cat "$1")"
		[ -d /proc/$3 ] || { sleep 0.2; grep -q "$2" "$1" || fail "$4 ended: $(cat "$1")"; }
		sleep 0.1; done
}
# load PARAMETERS / unload: the module
load() { must /bin/insmod /kbl.ko "$@"; }
# activate: without kblrecord, which passes the module the start of the kernel's text
activate() {
	# Reading all symbols takes seconds; _stext stands near the first.
	stext=${stext:-$(grep -m 1 ' _stext$' /proc/kallsyms | cut -d ' ' -f 1)}
	echo "stext 0x$stext" > $kbl/control || fail "stext"
	echo activate > $kbl/control || fail "activate"
}
unload() { must /bin/rmmod kbl; }
# only_calls: no events of others
only_calls() {
	echo "-net -qdisc -sock -copy -drop -syscall -irq -softirq -table" > $kbl/events ||
		fail "events"
}
# start_recorder OUT ARGUMENTS: returns when all functions are armed.
start_recorder() {
	: > /tmp/recorder
	/kblrecord -w "$@" 2> /tmp/recorder & recorder=$!
	until_said /tmp/recorder recording $recorder "the recorder"
}
stop_recorder() {
	cat $kbl/stats > /tmp/stats
	kill -INT $recorder; wait $recorder || { cat /tmp/recorder; fail "kblrecord"; }
	cat /tmp/recorder
}
# sniff NETNS DEVICE OUT ARGUMENTS: one sniffer more.
sniffers=
sniff() {
	ns=$1 device=$2 out=$3; shift 3
	$ip netns exec $ns /bin/tcpdump -Z root -i $device -n -U --immediate-mode \
		--time-stamp-precision=nano -w $out "$@" 2> $out.said & sniffers="$sniffers $!"
	until_said $out.said listening $! "the sniffer"
}
# The sniffers end before the recorder: what they have seen, the recorder has seen.
stop_sniffers() {
	sleep 0.3
	for s in $sniffers; do kill -INT $s; wait $s || fail "tcpdump"; done
	sniffers=
	for s in /tmp/out/*.pcap.said; do
		grep -q '^0 packets dropped by kernel' $s || { cat $s; fail "the sniffer lost packets"; }
		rm $s; done
}
# serve NETNS ARGUMENTS: a server that answers once; returns when it listens.
serve() {
	ns=$1; shift; : > /tmp/serve
	$ip netns exec $ns /traffic "$@" > /tmp/serve & server=$!
	until_said /tmp/serve ready $server "the server"
}
served() { wait $server || fail "the server"; }
client() { $ip netns exec client "$@"; }
server() { $ip netns exec server "$@"; }
# namespace NAME...: a network namespace each, with its loopback, without IPv6
namespace() {
	for n; do
		must $ip netns add $n; must $ip -n $n link set lo up
		$ip netns exec $n sh -c 'for d in all default lo; do
			echo 1 > /proc/sys/net/ipv6/conf/$d/disable_ipv6; done'
	done
}
# join NETNS DEVICE ADDRESS NETNS DEVICE ADDRESS: a cable
join() {
	must $ip link add $2 netns $1 type veth peer name $5 netns $4
	must $ip -n $1 addr add $3 dev $2; must $ip -n $4 addr add $6 dev $5
	must $ip -n $1 link set $2 up; must $ip -n $4 link set $5 up
}
pair() { namespace client server; join client vc 10.9.0.1/24 server vs 10.9.0.2/24; sleep 0.2; }
part() { for n; do must $ip netns del $n; done; sleep 0.2; }
# bulk_run NAME BYTES: TCP from client to server, sniffed at the server
bulk_run() {
	server /bin/iperf3 -s -1 --forceflush > /tmp/iperf & server=$!
	until_said /tmp/iperf listening $server "iperf3"
	sniff server vs /tmp/out/$1.pcap -s 128 -B 16384
	must client /bin/iperf3 -c 10.9.0.2 -n $2 > /tmp/out/$1.txt
	served
	stop_sniffers
}
# six NETNS DEVICE ADDRESS: IPv6, without a search for others that have the address
six() {
	$ip netns exec $1 sh -c "for d in all $2; do
		echo 0 > /proc/sys/net/ipv6/conf/\$d/disable_ipv6; done
		echo 0 > /proc/sys/net/ipv6/conf/$2/accept_dad"
	must $ip -n $1 addr add $3/64 dev $2 nodad
}
# refused FILE WORD...: each of them leaves the file's state as it is
refused() {
	file=$1; shift
	grep -v '^# ' $kbl/$file > /tmp/before
	for word; do
		echo "$word" > $kbl/$file 2> /tmp/refusal && fail "$file took '$word'"
		cat /tmp/refusal >> /tmp/out/refused-$file
		grep -v '^# ' $kbl/$file | cmp - /tmp/before || fail "'$word' changed $file"
	done
}
