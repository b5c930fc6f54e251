# SPDX-License-Identifier: MIT
# The recording begins after the traffic has begun, and ends before it ends.
stop_recorder > /tmp/recorder.said
pair
netem client vc delay 60ms 30ms duplicate 30%
sink server 7 echo=1
tap vc client vc
tap vs server vs
more client /send from=10.9.0.1 to=10.9.0.2 n=900 id=const:7 gap=12000
more client /send from=10.9.0.1 to=10.9.0.2 n=600 id=cycle:50 gap=18000 sport=4100
more client /frame device=vc from=10.9.0.1 to=10.9.0.2 n=300 gap=35000
sleep 1
start_recorder /tmp/log.kbl -f /$list $options
sleep 3
stop_recorder > /tmp/recorder.said
stop_recorder() { :; }
sleep 1
for m in $mores; do kill $m; done; mores=
