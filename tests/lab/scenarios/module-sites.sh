# SPDX-License-Identifier: MIT
# The probes in the source of a kernel module: found while it is loaded, armed by its functions'
# names, gone with it even while they are armed, found again.
row() { grep " netem_enqueue sch_netem$" $kbl/$1; }
# pings FILE: with netem between; the function's row of the table goes to FILE.
pings() {
	echo "netem_enqueue skb@0 module=sch_netem" > $kbl/probes || fail "no probe"
	activate
	must client /bin/tc qdisc add dev vc root netem delay 1ms
	must client /bin/busybox ping -q -c 3 10.9.0.2
	must client /bin/tc qdisc del dev vc root
	row probes > /tmp/out/$1
}
pair; load; only_calls
row sites > /tmp/out/sites-loaded || fail "the module's sites are not known"
pings module-armed
must /bin/rmmod sch_netem
row sites && fail "the module is gone, its sites are not"
row probes > /tmp/out/module-gone
echo deactivate > $kbl/control || fail "deactivate"
echo clear > $kbl/control || fail "clear"
must /bin/modprobe sch_netem
row sites > /tmp/out/sites-again || fail "the sites did not come back"
pings module-again
echo deactivate > $kbl/control || fail "deactivate"
must /bin/rmmod sch_netem
unload; part client server
