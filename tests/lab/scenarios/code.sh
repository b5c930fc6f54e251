# SPDX-License-Identifier: MIT
# The machine code of functions: what kblrecord --code records, and the same memory read by dd.
# memory ADDRESS LENGTH OUT: finds the segment of /proc/kcore that od shows for the address.
memory() {
	set -- $(($1)) $2 $3 $(od -An -t u2 -j 56 -N 2 /proc/kcore)
	od -An -v -t x8 -w56 -j 64 -N $(($4 * 56)) /proc/kcore > /tmp/segments
	while read -r type offset start physical size rest; do
		[ $((0x$type & 0xffffffff)) = 1 ] || continue
		# Of 64-bit addresses the difference is a small number, whatever their signs.
		into=$(($1 - 0x$start))
		[ $into -ge 0 ] && [ $into -lt $((0x$size)) ] || continue
		must dd if=/proc/kcore of=$3 bs=64k iflag=skip_bytes,count_bytes \
			skip=$((0x$offset + into)) count=$2 2> /tmp/dd
		return
	done < /tmp/segments
	fail "no segment with $1"
}
pair
load
grep -E '^(ip_rcv|ip_local|ip_output|__dev|tcp_v4|udp_|veth_)' /probes.txt > /tmp/code.txt
start_recorder /tmp/out/code.kbl --code -f /tmp/code.txt
must client /bin/busybox ping -q -c 1 10.9.0.2
client /traffic udp refused 10.9.0.2 9
stop_recorder
cp /tmp/recorder /tmp/out/code.txt
unload
# Reading all symbols takes seconds; _stext stands near the first.
text=0x$(grep -m 1 ' _stext$' /proc/kallsyms | cut -d ' ' -f 1)
veth=$(cat /sys/module/veth/sections/.text)
echo "$text $veth" > /tmp/out/code.places
memory $text $((16 << 20)) /tmp/out/code.text
memory $veth 16384 /tmp/out/code.veth
part client server
