# SPDX-License-Identifier: MIT
# Functions without an skb, recorded inside packet functions only.  The kernel's own kprobe events
# say which of them ran where: inner.trace, with the same clock.
tracing=/sys/kernel/tracing
packets='ip_rcv ip_output __dev_queue_xmit arp_rcv tcp_v4_rcv icmp_rcv __alloc_skb'
inner='fib_table_lookup __neigh_create kmem_cache_alloc kmem_cache_alloc_noprof
	kmem_cache_alloc_node kmem_cache_alloc_node_noprof
	kmem_cache_free _raw_spin_lock _raw_spin_lock_bh __local_bh_enable_ip mod_timer'
refused='ktime_get_mono_fast_ns copy_from_kernel_nofault stack_trace_save relay_switch_subbuf
	memset rethook_trampoline_handler'
has() { grep -q " [tT] $1\$" /tmp/symbols; }
# observe: the kernel's events of the same functions
observe() {
	mount -t tracefs t $tracing 2> /dev/null
	echo mono > $tracing/trace_clock; echo 16384 > $tracing/buffer_size_kb
	for f in $packets; do
		echo "p:seen/${f}_entry $f"; echo "r64:seen/${f}_exit $f"
	done > /tmp/events
	for f in $inner; do has $f && echo "p:seen/$f $f"; done >> /tmp/events
	while read -r event; do
		echo "$event" >> $tracing/kprobe_events || fail "kprobe event $event"
	done < /tmp/events
}
grep -E ' [tT] ' /proc/kallsyms > /tmp/symbols
for f in $packets; do grep "^$f " /probes.txt; done > /tmp/inner.txt
for f in $inner; do has $f && echo "$f inner"; done >> /tmp/inner.txt
# The module wakes its reader through it while it writes a record: its hits are not looked at.
echo "default_send_IPI_self inner" >> /tmp/inner.txt
echo "ktime_get_mono_fast_ns inner" >> /tmp/inner.txt
cp /tmp/inner.txt /tmp/out/inner.list
pair
serve server tcp server 7; tcp=$server
observe
load subbuf_kb=4 n_subbufs=256
for f in $refused; do
	has $f || continue
	echo "$f inner" > $kbl/probes 2> /tmp/refusal && fail "the module took $f"
	echo "$f $(cat /tmp/refusal)" >> /tmp/out/inner.refused
	echo "$f" > $kbl/probes 2> /dev/null && fail "the module took $f without a word"
done
for line in 'ip_rcv skb@0 inner' 'mod_timer inner quiet' 'kfree_skbmem inner free'; do
	echo "$line" > $kbl/probes 2> /dev/null && fail "the module took '$line'"
done
start_recorder /tmp/out/inner.kbl -e none --no-life -f /tmp/inner.txt
echo 1 > $tracing/events/seen/enable
must $ip -n client neigh flush dev vc
must client /bin/busybox ping -q -c 5 10.9.0.2
must client /traffic tcp client 10.9.0.2 7
must wait $tcp
# Threads are preempted inside __alloc_skb(), and go on on another CPU.
busy=
for n in 1 2 3 4; do (while :; do :; done) & busy="$busy $!"; done
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do $ip -n client addr > /dev/null; done
kill $busy
echo 0 > $tracing/events/seen/enable
stop_recorder
cp /tmp/recorder /tmp/out/inner.said; cp /tmp/stats /tmp/out/inner.stats
cp $tracing/kprobe_profile /tmp/out/inner.profile
cat $tracing/trace > /tmp/out/inner.trace
cat $tracing/per_cpu/cpu*/stats > /tmp/out/inner.trace.stats
unload
echo > $tracing/kprobe_events
umount $tracing
part client server
