# SPDX-License-Identifier: MIT
pair
sink server 7
tap vc client vc
tap vs server vs
for len in 4 18 64 200 700 1400; do
	more client /send from=10.9.0.1 to=10.9.0.2 n=130 len=$len id=const:$len sport=4$len gap=3000
done
all_done
