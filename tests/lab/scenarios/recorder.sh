# SPDX-License-Identifier: MIT
# The recorder itself: hidden addresses, a count, a reader that is too slow, a second reader.
pair
load
echo 2 > /proc/sys/kernel/kptr_restrict
/kblrecord -l -f /few.txt > /tmp/out/hidden.txt 2>&1 && fail "hidden addresses were taken"
echo 0 > /proc/sys/kernel/kptr_restrict
start_recorder /tmp/out/counted.kbl -c 8 -f /few.txt
must client /bin/busybox ping -q -c 1 10.9.0.2
wait $recorder || fail "kblrecord -c: $(cat /tmp/recorder)"
unload
load subbuf_kb=4 n_subbufs=2
start_recorder /tmp/out/lossy.kbl -f /few.txt
kill -STOP $recorder
must client /bin/busybox ping -q -A -c 100 10.9.0.2
kill -CONT $recorder; sleep 0.2
must client /bin/busybox ping -q -c 1 10.9.0.2
stop_recorder
unload
load
start_recorder /tmp/out/only.kbl -f /few.txt
echo $recorder > /tmp/out/only.pid
refuse() { "$@" > /dev/null 2>> /tmp/out/second.txt && fail "a second reader: $*"; }
must client /bin/busybox ping -q -c 2 10.9.0.2
refuse /kblrecord -w /tmp/out/second.kbl -f /few.txt icmp
for cpu in 0 1; do refuse cat $kbl/cpu$cpu; done
must client /bin/busybox ping -q -c 2 10.9.0.2
stop_recorder
sleep 100 < $kbl/cpu1 & reader=$!
until [ -d /proc/$reader/fd ] && ls -l /proc/$reader/fd | grep -q cpu1; do sleep 0.1; done
refuse /kblrecord -w /tmp/out/second.kbl -f /few.txt
kill $reader; wait $reader
# A killed one holds nothing; of two at once one records.
start_recorder /tmp/out/killed.kbl -f /few.txt
kill -KILL $recorder; wait $recorder
for n in 1 2; do
	( /kblrecord -w /tmp/out/race.kbl -f /few.txt --duration 1 2> /tmp/out/race$n.txt
	echo $? > /tmp/out/race$n.status ) & eval race$n=$!
done
wait $race1 $race2
unload
part client server
