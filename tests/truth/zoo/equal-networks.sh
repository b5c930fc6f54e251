# SPDX-License-Identifier: MIT
# Two networks with the same addresses and the same traffic; the second is sniffed later.
for i in 1 2; do
	namespace c$i s$i; join c$i vc 10.9.0.1/24 s$i vs 10.9.0.2/24
	must $ip -n c$i link set vc address 02:00:00:00:00:01
	must $ip -n s$i link set vs address 02:00:00:00:00:02
done
sleep 0.3
sink s1 7; sink s2 7
tap vs1 s1 vs
for i in 1 2; do
	more c$i /send from=10.9.0.1 to=10.9.0.2 n=500 id=const:7 gap=4000
	more c$i /send from=10.9.0.1 to=10.9.0.2 n=300 id=cycle:40 gap=6000 sport=4200
	more c$i /frame device=vc from=10.9.0.1 to=10.9.0.255 n=300 gap=5000
done
tap vs2 s2 vs
tap vc2 c2 vc
all_done
