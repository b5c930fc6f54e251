# SPDX-License-Identifier: MIT
# A function called an exact number of times; what was kept, lost and missed must sum up to it.
# Each run leaves exact-NAME.stats, .probes and what is left in the buffers, .cpu0 and .cpu1.
calls=/sys/kernel/debug/kbltest/call
# exact_run NAME KIB SUBBUFFERS CONTEXT/CPU/COUNT...: all at once
exact_run() {
	name=$1 all=0
	load subbuf_kb=$2 n_subbufs=$3
	shift 3; jobs=
	arm kbltest_call
	for c; do
		echo $c | tr / ' ' > $calls & jobs="$jobs $!"
		all=$((all + ${c##*/}))
	done
	for j in $jobs; do wait $j || fail "kbltest: $name"; done
	account $name $all
	echo clear > $kbl/control || fail "clear"
	grep -q '^missed 0$' $kbl/stats || fail "missed hits of one recording count in the next"
	unload
}
arm() {
	only_calls
	echo "$1 skb@0 module=kbltest" > $kbl/probes || fail "$1 was refused"
	activate
}
# account NAME CALLS: stop, and keep what the module says
account() {
	echo deactivate > $kbl/control || fail "deactivate"
	# The CPUs first: losses at the end are reported once all else has been read.
	for n in 0 1; do cat $kbl/cpu$n > /tmp/out/exact-$1.cpu$n; done
	cat $kbl/stats > /tmp/out/exact-$1.stats; cat $kbl/probes > /tmp/out/exact-$1.probes
	echo "calls $2" >> /tmp/out/exact-$1.stats
}
must /bin/insmod /kbltest.ko
for c in task softirq hrtimer irq_work ipi; do
	exact_run $c 256 8 $c/0/20000 $c/1/20000
done
# All at once, so that one interrupts the other's recording.
exact_run mixed 256 64 task/0/90000 task/1/90000 softirq/0/20000 softirq/1/20000 \
	hrtimer/0/9000 hrtimer/1/9000 ipi/0/20000 ipi/1/20000 irq_work/1/20000
# Nobody reads two tiny buffers.
exact_run tiny 4 2 task/0/300000 task/1/300000 hrtimer/0/9000 hrtimer/1/9000
# More sleep in a function than the module has room for; then they wake without it.
load maxactive=2 subbuf_kb=64 n_subbufs=4
arm kbltest_sleep
for i in 1 2 3 4 5; do echo 1 > ${calls%call}sleep & done
sleep 1
account sleep 5
unload
echo 1 > ${calls%call}wake
wait
# CPU 0's table of open calls is full of sleepers: calls have two records each, and their events.
load maxactive=400 subbuf_kb=256 n_subbufs=8
only_calls
printf '%s skb@0 %s module=kbltest\n' kbltest_sleep "" kbltest_call gro_merge > $kbl/probes ||
	fail "a list with an event was refused"
activate
busybox taskset 1 sh -c "
	n=0
	while [ \$((n += 1)) -le 300 ]; do echo 1 > ${calls%call}sleep & done
	wait" &
sleep 3
for c in task softirq; do echo $c 0 500 > $calls || fail "kbltest: full"; done
account full 1300
unload
echo 1 > ${calls%call}wake
wait
must /bin/rmmod kbltest
