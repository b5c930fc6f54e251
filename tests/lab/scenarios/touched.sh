# SPDX-License-Identifier: MIT
# What each call touches: all functions of the list, while packets of known content are sniffed.
pair
for end in client/vc server/vs; do
	must $ip netns exec ${end%/*} /bin/ethtool -K ${end#*/} gso off tso off gro off > /tmp/ethtool
done
serve server tcp server 7
load subbuf_kb=512 n_subbufs=96
start_recorder /tmp/out/touched.kbl --code -f /probes.txt
sniff server vs /tmp/out/touched.pcap
# Functions of modules that are not loaded have no address.
must /announce symbols accesses $(awk 'NR == FNR { listed[$1]; next } $3 in listed { print $3 }' \
	/probes.txt /proc/kallsyms | sort -u)
must /announce begin
must client /traffic tcp client 10.9.0.2 7
must client /bin/busybox ping -c 2 -i 0.01 10.9.0.2
must /announce end
served
stop_sniffers
stop_recorder
unload
# Page faults, which a program measures as well.
must /announce symbols
/faults 400 > /tmp/out/faults || fail "faults"
part client server
