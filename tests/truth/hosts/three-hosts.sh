# SPDX-License-Identifier: MIT
# One of three hosts in a row: a - r - b.  r forwards, and translates datagrams to port 9.  The
# clocks run at different rates, and the wall clock of b is set in between.  role=: a, r or b
case $role in a) slot=0 drift=0 ;; r) slot=1 drift=120 ;; b) slot=2 drift=-90 ;; esac
meet() { must /meet slot=$slot of=3 "$@" >> $out/clocks; }
must /meet drift=$drift
namespace host
host() { must $ip netns exec host "$@"; }
case $role in
a)	card host c0 02:00:00:00:0c:01 10.9.1.2/24
	must $ip -n host route add default via 10.9.1.1 ;;
r)	card host c0 02:00:00:00:0c:02 10.9.1.1/24
	card host c1 02:00:00:00:0c:03 10.9.2.1/24
	echo 1 | $ip netns exec host tee /proc/sys/net/ipv4/ip_forward > /dev/null
	rule host -t nat -A POSTROUTING -o c1 -p udp --dport 9 -j SNAT --to-source 10.9.2.1
	small host c1 ;;
b)	card host c0 02:00:00:00:0c:04 10.9.2.2/24
	must $ip -n host route add default via 10.9.2.1
	sink host 7 echo=1; sink host 9 ;;
esac
small host c0
meet at=1
[ $role != a ] || { i=0; until $ip netns exec host /bin/busybox ping -q -c 1 -W 2 10.9.2.2; do
	i=$((i + 1)); [ $i -lt 60 ] || fail "the last host does not answer"; done; } > /tmp/ping
meet at=2
tap c0 host c0
[ $role != r ] || tap c1 host c1
meet at=3
meet watch=1500
for part in 1 2; do
	meet at=${part}1
	[ $role != a ] || {
		more host /send from=10.9.1.2 to=10.9.2.2 n=150 id=count sport=400$part gap=9000
		more host /send from=10.9.1.2 to=10.9.2.2 n=60 id=const:7 sport=410$part gap=20000
		more host /send from=10.9.1.2 to=10.9.2.2 n=100 dport=9 sport=420$part gap=12000
		more host /stream tcp to=10.9.2.2 port=7 bytes=60000 chunk=800 gap=9000
		more host /stream udp to=10.9.2.2 port=7 n=150 len=90 gap=9000
		pings host 10.9.2.2 20
		all_done; sleep 0.5; }
	meet at=${part}2
	meet watch=1500
	# Less than what shows at first sight, and more.
	[ $role != b ] || must /clock ms=$((part * 45 - 60))
done
