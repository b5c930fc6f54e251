# SPDX-License-Identifier: MIT
# Loops of known length, nested three deep, with and without a packet, and the counter of perf's
# clock beside.  Each run leaves loop-KIND-N.cpu0; loop-bare holds the times without probes.
loop=/sys/kernel/debug/kbltest/loop
rounds=${rounds:-15}
# loop_run KIND CARRIER N: what the buffer holds after it
loop_run() {
	for f in outer middle inner; do
		echo "kbltest_$f $2 void module=kbltest" > $kbl/probes || fail "kbltest_$f was refused"
	done
	activate
	echo "$3 $rounds" > $loop || fail "kbltest: loop"
	echo deactivate > $kbl/control || fail "deactivate"
	cat $kbl/cpu0 > /tmp/out/loop-$1-$3.cpu0
	cat $kbl/probes > /tmp/out/loop-$1-$3.probes
	echo clear > $kbl/control || fail "clear"
}
must /bin/insmod /kbltest.ko
for n in 1000 10000 100000 1000000; do
	echo "$n $rounds" > $loop || fail "kbltest: loop"
	cat $loop >> /tmp/out/loop-bare
done
load
cat $kbl/calibration > /tmp/out/calibration-load
grep -q . $kbl/cpu0 && fail "the calibration's own records are in the log"
refused counter instructions cycles cache-misses branch-misses raw:0xc0 instruction raw: raw:0 \
	raw:0x100000000 ''
for n in 1000 10000 100000 1000000; do
	loop_run skb skb@0 $n
	loop_run none '' $n
done
echo cpu-clock > $kbl/counter || fail "counter"
cat $kbl/calibration > /tmp/out/calibration-counter
for n in 1000 10000 100000 1000000; do loop_run counter skb@0 $n; done
# Not while recording.
activate
refused counter off cycles
echo calibrate > $kbl/control 2> /dev/null && fail "calibrated while recording"
echo deactivate > $kbl/control || fail "deactivate"
echo off > $kbl/counter || fail "counter off"
echo calibrate > $kbl/control || fail "calibrate"
cat $kbl/calibration > /tmp/out/calibration-again
unload
must /bin/rmmod kbltest
