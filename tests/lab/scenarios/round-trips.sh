# SPDX-License-Identifier: MIT
# Round trips of TCP as the user sees them, without the module, with probes, and without it again.
# rounds=: how many of each size; sizes=: bytes, separated by commas; lists=: probe lists, likewise
measured() {
	: > /tmp/server; server /round_trip server 7 > /tmp/server & server=$!
	until_said /tmp/server ready $server "the server"
	must client /round_trip client 10.9.0.2 7 ${rounds:-20} $(echo $sizes | tr , ' ') > /tmp/out/$1.rounds
	served
}
pair
measured warm-up
measured before
for list in $(echo $lists | tr , ' '); do
	load subbuf_kb=512 n_subbufs=64
	start_recorder /tmp/out/$list.kbl --calibrate --no-life -e none -f /$list.txt
	measured $list
	stop_recorder
	unload
done
measured after
part client server
