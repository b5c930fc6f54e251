# SPDX-License-Identifier: MIT
# The scheduler, locks and page faults of a known program; lengths of queues.
begin machine "-all +sched +lock +fault"
must /machine $out/machine
end
must /bin/modprobe sch_netem
must client /bin/tc qdisc add dev vc root handle 5: netem delay 20ms limit 100
begin lengths "-all +qdisc +sock +queue" enqueuers.txt
serve server udp server 9
must client /traffic udp client 10.9.0.2 9
served
for n in 1 2 3 4 5; do must client /traffic udp send 10.9.0.2 1009; done
must client /bin/busybox ping -q -c 2 127.0.0.1
must client /unread $out/unread
end
must client /bin/tc qdisc del dev vc root
must /bin/rmmod sch_netem
