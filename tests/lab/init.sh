#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# The guest's init.  The kernel's command line says what to do (see tests/lab/guest.py):
#   lab=STEP,...     scripts of /scenarios, in this order.  "start:LIST" and "stop" begin and end
#                    a recording of what comes between (lab.kbl), +STEP is recorded by itself
#   functions=LIST   the list of functions for the latter
# Every step must succeed; the last line of the console says whether.
/bin/busybox --install -s /bin 2>/dev/null
export PATH=/bin
. /scenarios/steps.sh
mkdir -p /proc /sys /dev /tmp /run
mount -t proc p /proc; mount -t sysfs s /sys; mount -t devtmpfs d /dev; mount -t tmpfs t /tmp
mount -t debugfs d /sys/kernel/debug; mkdir -p /run/netns /tmp/out
for m in $(cat /modules); do must /bin/modprobe $m; done
# Recorded packets must be the scenario's: no IPv6 chatter where nobody asked for IPv6.
echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6
hostname lab
for step in $(echo "$lab" | tr , ' '); do
	say "$step"
	case $step in
	# Much is recorded and must not be lost, however slow the machine: it all fits the buffers.
	start:*) load subbuf_kb=512 n_subbufs=96; start_recorder /tmp/out/lab.kbl -f /${step#*:} ;;
	stop) stop_recorder; cat $kbl/missed > /tmp/out/lab.missed; unload ;;
	+*)	step=${step#+}
		load subbuf_kb=256 n_subbufs=32; start_recorder /tmp/out/$step.kbl -f /${functions:-probes.txt}
		. /scenarios/$step.sh
		stop_recorder; unload ;;
	*) . /scenarios/$step.sh ;;
	esac
done
say "the end"
dmesg > /tmp/out/dmesg.txt
# Not of what it refuses: the module's own lines quote that, "+systall" (the fuzzer's) too.
dmesg | grep -v '\] kbl: ' | grep -E 'BUG|WARNING|Oops|Call Trace|refcount|stall|hung' && fail "the kernel complained"
cd /tmp/out && must tar cf /dev/vda .; sync
# QEMU ends at a reboot; a kernel without ACPI cannot power off.
echo "LAB DONE"; reboot -f; sleep 60
