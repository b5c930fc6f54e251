# SPDX-License-Identifier: MIT
pair
namespace mirror
join server sm 10.9.3.1/24 mirror ms 10.9.3.2/24
must server /bin/tc qdisc add dev vs clsact
must server /bin/tc filter add dev vs ingress matchall action mirred egress mirror dev sm
must server /bin/tc filter add dev vs egress matchall action mirred egress mirror dev sm
sink server 7 echo=1
tap vs server vs
tap sm server sm
tap ms mirror ms
mix client 10.9.0.1 10.9.0.2
