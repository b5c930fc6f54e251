# SPDX-License-Identifier: MIT
# Nobody answers, so that the same bytes are sent again; the sniffer begins when the log has ended.
pair
six client vc fd00::1
for key in ipv4/tcp_timestamps ipv6/auto_flowlabels; do
	echo 0 | client tee /proc/sys/net/$key > /dev/null; done
must $ip -n client neigh add fd00::2 lladdr 02:00:00:00:00:02 dev vc nud permanent
callers=
for port in 5001 5002 5003 5004 5005 5006 5007 5008; do
	client /stream tcp to=fd00::2 port=7 sport=$port 2> /tmp/stream & callers="$callers $!"; done
sleep 0.9
stop_recorder > /tmp/recorder.said
stop_recorder() { :; }
tap vc client vc tcp
sleep 0.3
end_taps
for c in $callers; do kill $c; done
