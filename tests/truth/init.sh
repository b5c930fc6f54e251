#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# The zoo's init.  zoo=NAME,... are scripts of /zoo, each recorded with the witness and then run
# without it; pass=with or pass=without: only that.  less=N: an Nth of the traffic.
# What a scenario leaves goes to the disk as an archive of its own, at once, so that a guest that
# fails later loses nothing; the last line of the console says whether the guest came to its end.
/bin/busybox --install -s /bin 2>/dev/null
export PATH=/bin
. /scenarios/steps.sh
. /steps.sh
mkdir -p /proc /sys /dev /tmp /run
mount -t proc p /proc; mount -t sysfs s /sys; mount -t devtmpfs d /dev
mount -t tmpfs -o size=80% t /tmp
mount -t debugfs d /sys/kernel/debug; mkdir -p /run/netns
# The disk's; others are loaded by the scenarios that need them.
for m in veth virtio_pci virtio_blk; do must /bin/modprobe $m; done
echo /bin/modprobe > /proc/sys/kernel/modprobe
echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6
# No further device in each new namespace because a module of tunnels is loaded.
echo 2 > /proc/sys/net/core/fb_tunnels_only_for_init_net
hostname ${role:-lab}
exec 3> /dev/vda
names=$(echo "$zoo" | tr , ' ')
[ "$pass" = without ] || for name in $names; do
	say "$name"
	rm -rf /tmp/done; mkdir -p /tmp/done/$name
	( zoo_with $name ) || say "FAILED: $name"
	zoo_clean
	tar cf - -C /tmp/done . >&3; sync
done
[ "$pass" = with ] || {
	rm -rf /tmp/done; mkdir -p /tmp/done
	say "without the witness"
	zoo_without $names
	tar cf - -C /tmp/done . >&3; sync
}
say "the end"
dmesg | grep -v '\] kbl: ' | grep -E 'BUG|WARNING|Oops|Call Trace|refcount|stall|hung' && fail "the kernel complained"
echo "LAB DONE"; reboot -f; sleep 60
