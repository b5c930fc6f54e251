# SPDX-License-Identifier: MIT
# A host whose wall clock is behind that of the sniffer.  The emulator is the sniffer, and also the
# other host: it answers pings at 10.9.0.2, and what port 7 of 10.9.0.100 gets it sends back.
# base=: seconds since 1970 at which the emulator's clock began; behind=: seconds
namespace client
must $ip link set eth0 netns client
must $ip -n client addr add 10.9.0.1/24 dev eth0; must $ip -n client link set eth0 up
sleep 0.5
must client /bin/busybox ping -q -c 2 10.9.0.2
must /wall_clock $base $behind
load subbuf_kb=256 n_subbufs=32
start_recorder /tmp/out/late-clock.kbl -f /probes.txt -e net,qdisc,sock,copy,drop,syscall,irq,softirq,table
# The kernel's own counts, to compare those of the recording with.
cat /proc/interrupts > /tmp/out/interrupts.before; cat /proc/softirqs > /tmp/out/softirqs.before
must client /traffic tcp client 10.9.0.100 7
must client /bin/busybox ping -q -c 2 -i 0.1 10.9.0.2
cat /proc/interrupts > /tmp/out/interrupts.after; cat /proc/softirqs > /tmp/out/softirqs.after
stop_recorder
unload
part client
