# SPDX-License-Identifier: MIT
# Load, arm, activate, unload, again and again, under all the traffic two CPUs can make.
# cycles=, cycled=: how often and which list; whole=: a list for one cycle more, or nothing
pair
server /bin/iperf3 -s --forceflush > /tmp/iperf & servers=$!
until_said /tmp/iperf listening $servers "iperf3"
client /bin/iperf3 -c 10.9.0.2 -t 9999 -P 2 --bidir > /dev/null & clients=$!
client /bin/busybox ping -q -A 10.9.0.2 > /dev/null & pinger=$!
# cycle NUMBER LIST: with a reader that is stopped, with one that is killed, and with none
cycle() {
	load subbuf_kb=64 n_subbufs=4
	case $(($1 % 3)) in
	0) start_recorder /tmp/cycle.kbl -f /$2
	   sleep 0.2; kill -INT $recorder; wait $recorder || fail "kblrecord: $(cat /tmp/recorder)" ;;
	1) start_recorder /tmp/cycle.kbl -f /$2; sleep 0.1; kill -KILL $recorder; wait $recorder ;;
	2) start_recorder /tmp/cycle.kbl -f /$2
	   kill -STOP $recorder; sleep 0.1; kill -KILL $recorder; wait $recorder ;;
	esac
	i=0; until /bin/rmmod kbl 2> /tmp/rmmod; do
		i=$((i + 1)); [ $i -lt 50 ] || fail "rmmod: $(cat /tmp/rmmod)"; sleep 0.1; done
	[ -d /proc/$clients ] || fail "the traffic ended"
}
n=0; while [ $n -lt ${cycles:-50} ]; do
	cycle $n ${cycled:-all.txt}
	n=$((n + 1)); [ $((n % 10)) != 0 ] || say "$n: $(tail -n 1 /tmp/recorder)"
done
say "$n cycles with ${cycled:-all.txt}"
[ -z "$whole" ] || { cycle 0 $whole; say "one with $whole: $(tail -n 1 /tmp/recorder)"; }
must client /bin/busybox ping -q -c 1 10.9.0.2
kill $pinger $clients $servers; wait $pinger $clients $servers
echo "$n" > /tmp/out/cycles.txt
part client server
