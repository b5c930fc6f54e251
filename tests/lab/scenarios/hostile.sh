# SPDX-License-Identifier: MIT
# Writes that must be refused with EINVAL and change nothing.
/bin/insmod /kbl.ko backend=nonsense 2> /tmp/said && fail "a back end was taken that there is not"
load subbuf_kb=64 n_subbufs=4
# refused FILE TEXT
refused() {
	cat $1 > /tmp/before
	printf "$2" > /tmp/text
	if /bin/busybox dd if=/tmp/text of=$1 bs=64k conv=notrunc 2> /tmp/said; then
		wrong "$1 took: $2"; fi
	grep -q 'Invalid argument' /tmp/said || wrong "$1 refused otherwise: $2: $(cat /tmp/said)"
	cat $1 | cmp -s - /tmp/before || wrong "$1 was changed by: $2"
}
faults=0
wrong() { echo "WRONG: $*"; faults=$((faults + 1)); }
for text in 'x' 'activated' 'activate now' ' ' 'ACTIVATE' 'activate\\ndeactivate\\n'; do
	refused /proc/net/kbl "$text"; done
for text in 'x' 'start' 'activate it' 'stext' 'stext zero' 'enable'; do refused $kbl/control "$text"; done
for text in '0 skb@0' 'ip_rcv skb@' 'ip_rcv skb@16' 'ip_rcv what@0' 'ip_rcv skb@0 skb@1 skb@2 skb@3 skb@4' \
	'ip_rcv list@ret' 'ip_rcv 0xzz skb@0' 'ip_rcv skb@0 nosuchevent' 'no_such_function_ skb@0 module='; do
	refused $kbl/probes "$text"; done
# What is there and cannot be probed is kept, with the reason: EINVAL, not ENOENT.
echo exc_int3 > $kbl/probes || fail "probes: exc_int3"
tail -n 1 $kbl/probes | grep -q '^[0-9]* 0x0 0 -22 .* exc_int3 ' || wrong "$(tail -n 1 $kbl/probes)"
echo clear > $kbl/control || fail "clear"
# A function named twice: fprobe records it once, kretprobes twice, and "enable" changes neither.
echo 'ip_rcv skb@0' > $kbl/probes || fail "probes: ip_rcv"
echo "again $(tail -n 1 $kbl/probes | cut -d ' ' -f 2) skb@0" > $kbl/probes || fail "probes: again"
activate; armed=$(cut -d " " -f 1-4 $kbl/probes)
echo 'enable *' > $kbl/control || fail "enable"
[ "$armed" = "$(cut -d " " -f 1-4 $kbl/probes)" ] || wrong "enable: $armed, then: $(cat $kbl/probes)"
echo deactivate > $kbl/control && echo clear > $kbl/control || fail "clear"
for text in 'tcp and' 'port 70000' 'host 1.2.3' '(udp' 'vlan 3' 'ether host 1'; do
	refused $kbl/filter "$text"; done
for text in 'x' '+x' 'net -x'; do refused $kbl/events "$text"; done
for text in 'x' 'raw' 'cycles please'; do refused $kbl/counter "$text"; done
activate; echo deactivate > $kbl/control || fail "deactivate"
echo activate > /proc/net/kbl || fail "/proc/net/kbl: activate"
grep -q '^active' /proc/net/kbl || wrong "not active: $(cat /proc/net/kbl)"
printf deactivate > /proc/net/kbl || fail "/proc/net/kbl: deactivate"
for f in $kbl/probes $kbl/control $kbl/filter $kbl/events $kbl/counter; do
	head -n 1 $f | grep -q '^#' || wrong "$f shows no help"; done
unload
[ $faults = 0 ] || fail "$faults hostile writes went wrong"
