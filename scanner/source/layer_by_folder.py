# SPDX-License-Identifier: MIT
"""The network layer to which a source file belongs, determined by its folder.

The names of layers are those of skbviewer's layer table.
"""

from __future__ import annotations

import re
from functools import lru_cache

# The first pattern that fits decides.
_PLACES = (
    (r"drivers/", "driver"),
    (r"security/|net/netlabel/|net/xfrm/", "security"),
    (r"(?:.*/)?net/(?:[\w.-]+/)?netfilter/", "netfilter"),
    (r"include/(?:net|linux|uapi/linux)/netfilter", "netfilter"),
    (r"net/(?:socket|compat|sysctl_net)\.c", "syscall"),
    (r"net/packet/", "tap"),
    (r"net/netlink/|net/core/rtnetlink\.c|include/(?:net|linux)/netlink\.h", "netlink"),
    (r"net/core/(?:skbuff|gro|page_pool|iovec)\w*\.[ch]|include/linux/skbuff\w*\.h", "memory"),
    (r"net/core/(?:sock|stream|datagram|scm|sock_\w+)\.c|include/net/sock\w*\.h", "socket"),
    (r"net/(?:unix|vsock|vmw_vsock|tls|smc|kcm|rds|rxrpc|sunrpc|ceph|9p)/", "socket"),
    (r"net/ipv[46]/(?:af_inet6?|datagram|raw|ping)\w*\.c", "socket"),
    (r"net/ipv[46]/(?:tcp|udp|inet_connection|inet_hashtables|inet6_\w+|inet_timewait)\w*\.[ch]",
     "transport"),
    (r"net/(?:sctp|dccp|mptcp|tipc|l2tp)/|include/net/(?:tcp|udp|sctp|dccp)\w*[./]", "transport"),
    (r"net/ipv[46]/|include/net/(?:ip|ipv6|route|icmp|inet)\w*[./]", "ip"),
    (r"net/(?:core|ethernet|sched|bridge|8021q|802|llc|hsr|dsa|bluetooth|mac80211|wireless|"
     r"openvswitch|batman-adv|mpls|nsh|xdp|can|atm|ieee802154|mac802154|token-ring)/", "link"),
    (r"include/linux/(?:netdevice|etherdevice|if_\w+)\.h", "link"),
)  # fmt: skip
_COMPILED = [(re.compile(pattern), layer) for pattern, layer in _PLACES]


@lru_cache(maxsize=256)
def layer(path: str) -> str:
    """Return the network layer of a source file; `path` is relative to the kernel's tree."""
    for pattern, name in _COMPILED:
        if pattern.match(path):
            return name
    return "other"
