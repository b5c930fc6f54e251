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
grep -E '^(ip_|__ip|tcp_|__tcp|udp_|__udp|__dev|dev_|veth_|sock_|__netif|kfree_skb)' /probes.txt > /tmp/code.txt
start_recorder /tmp/out/code.kbl --code -f /tmp/code.txt
must client /bin/busybox ping -q -c 1 10.9.0.2
client /traffic udp refused 10.9.0.2 9
stop_recorder
cp /tmp/recorder /tmp/out/code.txt
unload
grep ' [tT] ' /proc/kallsyms | grep -E ' (_stext|_etext|veth_[a-z_]*.*\[veth\])$' > /tmp/out/code.symbols
text=0x$(grep ' _stext$' /tmp/out/code.symbols | cut -d ' ' -f 1)
end=0x$(grep ' _etext$' /tmp/out/code.symbols | cut -d ' ' -f 1)
memory $text $((end - text)) /tmp/out/code.text
memory 0x$(grep ' veth_xmit' /tmp/out/code.symbols | cut -d ' ' -f 1) 4096 /tmp/out/code.veth
part client server
