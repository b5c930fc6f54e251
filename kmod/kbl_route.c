// SPDX-License-Identifier: GPL-2.0-only
/*
 * Route changes, from the FIB notifier of each network namespace.  If a prefix has several
 * routes, only the best one is recorded, because the kernel uses that one.
 */
#include <linux/rtnetlink.h>
#include <net/fib_notifier.h>
#include <net/ip6_fib.h>
#include <net/ip_fib.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/nexthop.h>

#include "kbl_events.h"

/* State of one network namespace. */
struct kbl_routes {
	struct notifier_block nb;
	struct net *net;
	struct task_struct *replaying;	/* it is registering: its calls report existing routes */
	bool registered;
};

static unsigned int kbl_routes_id;

/* A route of either family. */
struct kbl_route {
	u8 family;
	u8 prefix_len;
	u8 gateway_family;	/* 0 = none; an IPv4 route may have an IPv6 gateway */
	u32 table;
	u32 ifindex;
	const void *addr;
	const void *gateway;
};

static void kbl_route_ext(struct kbl_cpu *c, const struct kbl_route *route, u32 netns)
{
	struct kbl_ext_route *ext = &kbl_ext(c, KBL_EXT_ROUTE)->route;

	ext->family = route->family;
	ext->prefix_len = route->prefix_len;
	ext->ifindex = route->ifindex;
	ext->netns = netns;
	ext->table = route->table;
	memcpy(ext->addr, route->addr, route->family == AF_INET ? 4 : 16);
}

static void kbl_gateway_ext(struct kbl_cpu *c, const struct kbl_route *route, u32 netns)
{
	struct kbl_ext_addr *ext = &kbl_ext(c, KBL_EXT_ADDR)->addr;

	ext->family = route->gateway_family;
	ext->prefix_len = route->gateway_family == AF_INET ? 32 : 128;
	ext->ifindex = route->ifindex;
	ext->netns = netns;
	memcpy(ext->addr, route->gateway, route->gateway_family == AF_INET ? 4 : 16);
}

static void kbl_route_emit(const struct kbl_route *route, bool gone, const struct net *net)
{
	u32 netns = net->ns.inum;
	struct kbl_event_slot *event;
	struct kbl_cpu *c;

	c = kbl_event_open();
	if (!c)
		return;
	event = kbl_event(c, KBL_EV_ROUTE, 0,
			  (gone ? KBL_CHANGE_GONE : KBL_CHANGE_SET) | (u64)netns << 32);
	event->ext = 1;
	kbl_route_ext(c, route, netns);
	if (route->gateway_family) {
		event->ext = 2;
		kbl_gateway_ext(c, route, netns);
	}
	kbl_batch_close(c);
}

/* A route over several next hops is recorded with the first one. */
static void kbl_route_next_hop(struct kbl_route *route, const struct fib_nh_common *nhc)
{
	if (nhc->nhc_dev)
		route->ifindex = nhc->nhc_dev->ifindex;
	route->gateway_family = nhc->nhc_gw_family;
	route->gateway = &nhc->nhc_gw;
}

static void kbl_route_ipv4(const struct fib_notifier_info *info, bool gone, const struct net *net)
{
	const struct fib_entry_notifier_info *fib =
		container_of(info, struct fib_entry_notifier_info, info);
	__be32 dst = htonl(fib->dst);
	struct kbl_route route = {
		.family = AF_INET,
		.prefix_len = fib->dst_len,
		.table = fib->tb_id,
		.addr = &dst,
	};

	if (fib_info_num_path(fib->fi))
		kbl_route_next_hop(&route, fib_info_nhc(fib->fi, 0));
	kbl_route_emit(&route, gone, net);
}

#if IS_ENABLED(CONFIG_IPV6)
static void kbl_route_ipv6(const struct fib_notifier_info *info, bool gone, const struct net *net)
{
	const struct fib6_entry_notifier_info *fib =
		container_of(info, struct fib6_entry_notifier_info, info);
	struct fib6_info *rt = fib->rt;
	struct fib6_nh *nh = rt->nh ? nexthop_fib6_nh(rt->nh) : rt->fib6_nh;
	struct kbl_route route = {
		.family = AF_INET6,
		.prefix_len = rt->fib6_dst.plen,
		.table = rt->fib6_table->tb6_id,
		.addr = &rt->fib6_dst.addr,
	};

	if (nh)
		kbl_route_next_hop(&route, &nh->nh_common);
	kbl_route_emit(&route, gone, net);
}
#else
static void kbl_route_ipv6(const struct fib_notifier_info *info, bool gone, const struct net *net)
{
}
#endif

static bool kbl_fib_changes(unsigned long event)
{
	return event == FIB_EVENT_ENTRY_REPLACE || event == FIB_EVENT_ENTRY_APPEND ||
	       event == FIB_EVENT_ENTRY_ADD || event == FIB_EVENT_ENTRY_DEL;
}

static int kbl_fib(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct kbl_routes *routes = container_of(nb, struct kbl_routes, nb);
	const struct fib_notifier_info *info = ptr;
	bool gone = event == FIB_EVENT_ENTRY_DEL;

	if (!kbl_fib_changes(event) || READ_ONCE(routes->replaying) == current)
		return NOTIFY_DONE;
	/* Multicast routing uses the same chain, with families of its own. */
	if (info->family == AF_INET)
		kbl_route_ipv4(info, gone, routes->net);
	else if (info->family == AF_INET6)
		kbl_route_ipv6(info, gone, routes->net);
	return NOTIFY_DONE;
}

/* A namespace may be created even if its tables cannot be watched. */
static int __net_init kbl_routes_net_init(struct net *net)
{
	struct kbl_routes *routes = net_generic(net, kbl_routes_id);
	int err;

	routes->net = net;
	routes->nb.notifier_call = kbl_fib;
	WRITE_ONCE(routes->replaying, current);
	err = register_fib_notifier(net, &routes->nb, NULL, NULL);
	WRITE_ONCE(routes->replaying, NULL);
	routes->registered = !err;
	if (err)
		pr_warn("kbl: routes of network namespace %u: error %d\n", net->ns.inum, err);
	return 0;
}

static void __net_exit kbl_routes_net_exit(struct net *net)
{
	struct kbl_routes *routes = net_generic(net, kbl_routes_id);

	if (routes->registered)
		unregister_fib_notifier(net, &routes->nb);
}

static struct pernet_operations kbl_routes_ops = {
	.init = kbl_routes_net_init,
	.exit = kbl_routes_net_exit,
	.id = &kbl_routes_id,
	.size = sizeof(struct kbl_routes),
};

int kbl_route_start(void)
{
	return register_pernet_subsys(&kbl_routes_ops);
}

void kbl_route_stop(void)
{
	unregister_pernet_subsys(&kbl_routes_ops);
}
