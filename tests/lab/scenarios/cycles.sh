# SPDX-License-Identifier: MIT
# Load, arm, activate, unload, again and again, under traffic.
# cycles=, cycled=: how often and which list; whole=: a list for one cycle more, or nothing
# each=: how many functions a cycle arms by hand; by default, all of the list
# rate=: bits a second each way, and 50 pings a second; as much as two CPUs can make by default
pair
# The traffic may take all that is left: what loads and unloads must come to its turn.
server /bin/nice -n 19 /bin/iperf3 -s --forceflush > /tmp/iperf & servers=$!
until_said /tmp/iperf listening $servers "iperf3"
client /bin/nice -n 19 /bin/iperf3 -c 10.9.0.2 -t 9999 --bidir ${rate:+-b $rate} > /dev/null & clients=$!
# Pings without a pause keep the CPUs busy while all else waits for a grace period.
pause=-A; [ -z "$rate" ] || pause="-i 0.02"
client /bin/nice -n 19 /bin/busybox ping -q $pause 10.9.0.2 > /dev/null & pinger=$!
# by_recorder LIST HOW: kblrecord arms; it is stopped, killed, or held up and killed
by_recorder() {
	start_recorder /tmp/cycle.kbl -f /$1
	# What it resolved: the cycles after this one need not.
	cat $kbl/probes > /tmp/resolved
	case $2 in
	stopped) sleep 0.2; kill -INT $recorder; wait $recorder || fail "$(cat /tmp/recorder)" ;;
	killed) sleep 0.1; kill -KILL $recorder; wait $recorder ;;
	held) kill -STOP $recorder; sleep 0.2; kill -KILL $recorder; wait $recorder ;;
	esac
	rm -f /tmp/cycle.kbl /tmp/part.*
	awk -v most=${each:-99999} 'NR == FNR { if ($1 !~ /^#/) { name = $1; $1 = ""; rest[name] = $0 } next }
		$9 in rest && $2 ~ /^0x./ && $2 != "0x0" && n < most {
			print $9, $2, rest[$9] > ("/tmp/part." int(n++ / 300)) }' /$1 /tmp/resolved
}
# by_hand HOW: armed without kblrecord; what is recorded is read, or not
by_hand() {
	for part in /tmp/part.*; do
		/bin/busybox dd if=$part of=$kbl/probes bs=64k conv=notrunc 2> /tmp/dd ||
			fail "$part: $(cat /tmp/dd)"; done
	activate
	[ $1 != read ] || for cpu in 0 1; do cat $kbl/cpu$cpu > /dev/null; done
	sleep 0.1
	armed=$(sed -n 's/^armed //p' $kbl/control)
	[ "$armed" -ge $((${each:-42} - 1)) ] || fail "only $armed functions are armed"
	# Every other time rmmod has to stop what is going on.
	[ $1 != read ] || echo deactivate > $kbl/control || fail "deactivate"
}
# cycle NUMBER LIST
cycle() {
	load subbuf_kb=64 n_subbufs=4
	case $(($1 % 15)) in
	0) by_recorder $2 stopped ;;
	5) by_recorder $2 killed ;;
	10) by_recorder $2 held ;;
	*[13579]) by_hand read ;;
	*) by_hand unread ;;
	esac
	i=0; until /bin/rmmod kbl 2> /tmp/rmmod; do
		i=$((i + 1)); [ $i -lt 50 ] || fail "rmmod: $(cat /tmp/rmmod)"; sleep 0.1; done
	[ -d /proc/$clients ] && [ -d /proc/$pinger ] || fail "the traffic ended"
}
n=0; while [ $n -lt ${cycles:-50} ]; do
	cycle $n ${cycled:-all.txt}
	n=$((n + 1)); [ $((n % 10)) != 0 ] || say "$n cycles, $armed armed"
done
[ -z "$whole" ] || { cycle 0 $whole; say "one with $whole: $(tail -n 1 /tmp/recorder)"; }
# The traffic may crowd out one.
must client /bin/busybox ping -q -c 5 10.9.0.2
kill $pinger $clients $servers; wait $pinger $clients $servers
echo "$n" > /tmp/out/cycles.txt
part client server
