# SPDX-License-Identifier: MIT
# Two causes: one reader is stopped by a signal for a while, another waits for the CPU.
acquainted
cp /stream /tmp/stopped; cp /stream /tmp/starved
helper server /tmp/stopped sink 7; stopped=$pid
helper server /tmp/starved sink 9
tap vs server vs
more client /realtime 20 /stream udp to=10.9.0.2 port=7 n=50 len=100 gap=6000
sleep 0.1; kill -STOP $stopped; usleep $(pick 60000 100000); kill -CONT $stopped
all_done
helper server /realtime 10 /hog $(pick 15000 20000) 30000
from client /realtime 20 /stream udp to=10.9.0.2 port=9 n=50 len=100 gap=6000
sleep 0.3
