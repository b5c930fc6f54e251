# SPDX-License-Identifier: MIT
# The recorder itself: hidden addresses, a count, a reader that is too slow.
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
part client server
