# SPDX-License-Identifier: MIT
# A function called an exact number of times; what was kept, lost and missed must sum up to it.
# Each run leaves exact-NAME.stats, .probes and what is left in the buffers, .cpu0 and .cpu1.
calls=/sys/kernel/debug/kbltest/call
total=${total:-200000}
# exact_run NAME COUNT LOADING -- CONTEXT/CPU...: all contexts at once, COUNT calls each
exact_run() {
	name=$1 count=$2; shift 2
	load $(while [ "$1" != -- ]; do echo $1; shift; done)
	while [ "$1" != -- ]; do shift; done; shift
	echo "kbltest_call skb@0 module=kbltest" > $kbl/probes || fail "kbltest_call was refused"
	echo activate > $kbl/control || fail "activate"
	jobs=
	for c; do echo "${c%/*} ${c#*/} $count" > $calls & jobs="$jobs $!"; done
	for j in $jobs; do wait $j || fail "kbltest: $name"; done
	echo deactivate > $kbl/control || fail "deactivate"
	cat $kbl/stats > /tmp/out/exact-$name.stats; cat $kbl/probes > /tmp/out/exact-$name.probes
	for n in 0 1; do cat $kbl/cpu$n > /tmp/out/exact-$name.cpu$n; done
	echo "calls $(($count * $#))" >> /tmp/out/exact-$name.stats
	unload
}
must /bin/insmod /kbltest.ko
for c in task softirq hrtimer irq_work ipi; do
	exact_run $c 20000 -- $c/0 $c/1
done
# All at once, so that one interrupts the other's recording.
exact_run mixed 50000 n_subbufs=64 -- task/0 task/1 softirq/0 softirq/1 hrtimer/0 hrtimer/1 ipi/0 ipi/1 irq_work/1
# Nobody reads two tiny buffers.
exact_run tiny $total subbuf_kb=4 n_subbufs=2 -- task/0 task/1 hrtimer/0 hrtimer/1
# Too few instances for the calls which sleep.
must /bin/rmmod kbltest
