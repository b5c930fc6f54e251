# SPDX-License-Identifier: MIT
# Nobody answers, so that the same bytes are sent again; the sniffer begins when the log has ended.
pair
six client vc fd00::1
for key in ipv4/tcp_timestamps ipv6/auto_flowlabels; do
	echo 0 | client tee /proc/sys/net/$key > /dev/null; done
must $ip -n client neigh add fd00::2 lladdr 02:00:00:00:00:02 dev vc nud permanent
callers= port=5000
while [ $port -lt $((5000 + 250 / ${less:-1})) ]; do
	client /stream tcp to=fd00::2 port=7 sport=$port 2> /tmp/stream & callers="$callers $!"
	port=$((port + 1)); done
sleep 0.9
stop_recorder > /tmp/recorder.said
stop_recorder() { :; }
tap vc client vc tcp
sleep 16 # a SYN is sent again after 1, 3, 7 and 15 s
end_taps
for c in $callers; do kill $c; done
