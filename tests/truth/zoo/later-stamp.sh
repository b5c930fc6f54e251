# SPDX-License-Identifier: MIT
# Frames are stamped with the time at which they were to be sent, which has not come yet.
namespace client
must $ip -n client link add va type veth peer name vb
must $ip -n client addr add 10.9.0.1/24 dev va
must $ip -n client link set va up; must $ip -n client link set vb up
tap va client va
tap vb client vb
more client /send from=10.9.0.1 to=10.9.0.255 n=100 device=va id=cycle:100 gap=6000
more client /frame device=va from=10.9.0.1 to=10.9.0.255 n=300 gap=2000 later=0,0,0,0,2300,2300
all_done
from client /frame device=va from=10.9.0.1 to=10.9.0.255 n=100 gap=3000 later=3400
sleep 0.3
from client /send from=10.9.0.1 to=10.9.0.255 n=50 device=va id=cycle:100 gap=3000
