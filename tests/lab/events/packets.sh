# SPDX-License-Identifier: MIT
# What befalls packets: sent, queued, received, read, dropped, consumed.
must /bin/modprobe sch_netem
must server /bin/iptables-legacy -A INPUT -p udp --dport 1009 -j DROP
must client /bin/iptables-legacy -A OUTPUT -p udp --dport 1010 -j DROP
must client /bin/tc qdisc add dev vc root handle 5: netem delay 1ms
# A veth polls for itself if it may merge what comes.
must server /bin/ethtool -K vs gro on; must client /bin/ethtool -K vc tso off
packets() {
	begin $1 "+all -syscall -irq -softirq -table" $2
	serve server udp server 7
	must client /traffic udp client 10.9.0.2 7
	served
	must client /bin/busybox ping -q -c 3 10.9.0.2
	must client /traffic udp send 10.9.0.2 1009
	client /traffic udp send 10.9.0.2 1010
	must client /traffic udp refused 10.9.0.2 9
	must client /traffic tcp refused 10.9.0.2 9
	end
}
packets packets
# The same with probes on the functions that free: who freed hides behind a return hook.
packets probed freers.txt
# The same with the groups switched off and on while active; ARP may not speak up meanwhile.
must $ip -n client neigh replace 10.9.0.2 lladdr 02:00:00:00:00:02 dev vc nud permanent
must $ip -n server neigh replace 10.9.0.1 lladdr 02:00:00:00:00:01 dev vs nud permanent
begin switched "-all"
must client /bin/busybox ping -q -c 1 10.9.0.2
echo "+net
+drop" > $kbl/events || fail "events"
must client /bin/busybox ping -q -c 2 10.9.0.2
echo "-net +qdisc" > $kbl/events || fail "events"
must client /bin/busybox ping -q -c 3 10.9.0.2
cat $kbl/events > $out/before
for words in " " "net" "+nonsense" "+net -nonsense" "+" "-" "++net" "+net,drop"; do
	echo -n "$words" > $kbl/events 2> /dev/null && fail "'$words' was taken"
done
head -c 5000 /dev/zero | tr '\0' x > $kbl/events 2> /dev/null && fail "a long word was taken"
cat $kbl/events > $out/after
cmp $out/before $out/after || fail "a refused word changed something"
end
must client /bin/tc qdisc del dev vc root
