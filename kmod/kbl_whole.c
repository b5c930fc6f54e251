// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sampling by packet needs packets that stay whole: an skb with several packets has no hash of
 * its own, and a rewritten packet gets another one.  So the filter is refused where a device, NAT,
 * a tunnel or IPsec may do that.  What happens later is counted: changed devices, skbs with
 * several packets, and what a check finds each time the counters are read.
 */
#include <linux/atomic.h>
#include <linux/if_arp.h>
#include <linux/kprobes.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/string.h>
#include <net/net_namespace.h>
#include <net/rtnetlink.h>

#include "kbl_whole.h"

/* Why packets may not stay whole, and what the administrator can do about it. */
struct kbl_reason_broken {
	netdev_features_t features;	/* of a device; one of them is on */
	const char *what;
	const char *command;	/* before the device's name, NULL: none */
	const char *argument;	/* after it */
};

struct kbl_breaker {
	const struct kbl_reason_broken *reason;	/* NULL: none */
	char dev[IFNAMSIZ];
	u32 netns;
};

#define KBL_REFUSED "kbl: filter: packets cannot be sampled: in network namespace %u, "
#define KBL_MERGING (NETIF_F_GRO | NETIF_F_GRO_HW | NETIF_F_GRO_FRAGLIST | NETIF_F_GRO_UDP_FWD)

/*
 * The features that make TCP, UDP or SCTP send several packets as one skb, or that make one skb of
 * received packets.  Features that only say how such an skb is cut inside tunnels do not count.
 */
static const struct kbl_reason_broken kbl_features[] = {
	{ NETIF_F_LRO, "merges packets", "ethtool -K", "lro off" },
	{ KBL_MERGING, "merges packets", "ethtool -K",
	  "gro off rx-gro-hw off rx-gro-list off rx-udp-gro-forwarding off" },
	{ NETIF_F_ALL_TSO, "segments packets", "ethtool -K", "tso off" },
	{ NETIF_F_GSO, "segments packets", "ethtool -K", "gso off" },
	{ NETIF_F_GSO_UDP_L4 | NETIF_F_GSO_UDP, "segments packets", "ethtool -K",
	  "tx-udp-segmentation off" },
	{ NETIF_F_GSO_SCTP, "segments packets", "ethtool -K", "tx-sctp-segmentation off" },
};

/* TCP sends several packets as one skb even if all features are off (sk_setup_caps()). */
static const struct kbl_reason_broken kbl_large = {
	.what = "lets TCP send several packets as one",
	.command = "ip link set",
	.argument = "gso_max_segs 1",
};

static const struct kbl_reason_broken kbl_tunnel = {
	.what = "is a tunnel, which rewrites packets",
};

static const struct kbl_reason_broken kbl_nat = { .what = "NAT rewrites packets" };
static const struct kbl_reason_broken kbl_ipsec = { .what = "IPsec rewrites packets" };

static const char *const kbl_tunnels[] = {
	"bareudp", "erspan", "geneve", "gre", "gretap", "gtp", "ip6erspan", "ip6gre", "ip6gretap",
	"ip6tnl", "ipip", "sit", "vti", "vti6", "vxlan", "wireguard", "xfrm",
};

bool kbl_by_packet;	/* written under the lock of the filter */

static atomic64_t kbl_breaks;	/* since the recording began */

static bool kbl_is_tunnel(const struct net_device *dev)
{
	const char *kind = dev->rtnl_link_ops ? dev->rtnl_link_ops->kind : "";
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kbl_tunnels); i++)
		if (!strcmp(kind, kbl_tunnels[i]))
			return true;
	return false;
}

/* A device that is down has no packets. */
static const struct kbl_reason_broken *kbl_device_breaks(const struct net_device *dev)
{
	unsigned int i;

	if (!(dev->flags & IFF_UP))
		return NULL;
	for (i = 0; i < ARRAY_SIZE(kbl_features); i++)
		if (dev->features & kbl_features[i].features)
			return &kbl_features[i];
	if (READ_ONCE(dev->gso_max_segs) > 1)
		return &kbl_large;
	return kbl_is_tunnel(dev) ? &kbl_tunnel : NULL;
}

#ifdef CONFIG_NETFILTER
/* NAT registers its hooks with priorities of its own, for iptables and for nftables. */
static bool kbl_hooks_nat(struct nf_hook_entries __rcu *const *hooks)
{
	unsigned int hook, i;

	for (hook = 0; hook < NF_INET_NUMHOOKS; hook++) {
		const struct nf_hook_entries *e = rcu_dereference(hooks[hook]);
		struct nf_hook_ops **ops = e ? nf_hook_entries_get_hook_ops(e) : NULL;

		for (i = 0; e && i < e->num_hook_entries; i++)
			if (ops[i]->priority == NF_IP_PRI_NAT_DST ||
			    ops[i]->priority == NF_IP_PRI_NAT_SRC)
				return true;
	}
	return false;
}

static bool kbl_has_nat(const struct net *net)
{
	return kbl_hooks_nat(net->nf.hooks_ipv4) || kbl_hooks_nat(net->nf.hooks_ipv6);
}
#else
static bool kbl_has_nat(const struct net *net)
{
	return false;
}
#endif

static bool kbl_has_ipsec(const struct net *net)
{
#ifdef CONFIG_XFRM
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(net->xfrm.policy_count); i++)
		if (READ_ONCE(net->xfrm.policy_count[i]))
			return true;
#endif
	return false;
}

/* Under rcu_read_lock(). */
static void kbl_net_breaks(struct net *net, struct kbl_breaker *found)
{
	struct net_device *dev;

	found->netns = net->ns.inum;
	for_each_netdev_rcu(net, dev) {
		found->reason = kbl_device_breaks(dev);
		if (found->reason) {
			strscpy(found->dev, dev->name, sizeof(found->dev));
			return;
		}
	}
	if (kbl_has_nat(net))
		found->reason = &kbl_nat;
	else if (kbl_has_ipsec(net))
		found->reason = &kbl_ipsec;
}

/* Find the first thing that may not leave packets whole; false: there is none. */
static bool kbl_find_breaker(struct kbl_breaker *found)
{
	struct net *net;

	*found = (struct kbl_breaker){};
	rcu_read_lock();
	for_each_net_rcu(net) {
		kbl_net_breaks(net, found);
		if (found->reason)
			break;
	}
	rcu_read_unlock();
	return found->reason;
}

/* May packets be sampled now?  Otherwise the kernel's log says why not. */
static int kbl_whole_now(void)
{
	const struct kbl_reason_broken *reason;
	struct kbl_breaker found;

	if (!kbl_find_breaker(&found))
		return 0;
	reason = found.reason;
	if (reason->command)
		pr_warn(KBL_REFUSED "%s %s (%s %s %s)\n", found.netns, found.dev, reason->what,
			reason->command, found.dev, reason->argument);
	else
		pr_warn(KBL_REFUSED "%s%s%s\n", found.netns, found.dev, *found.dev ? " " : "",
			reason->what);
	return -EOPNOTSUPP;
}

/* A recording starts; the filter may have been set long ago. */
int kbl_whole_start(void)
{
	int err = READ_ONCE(kbl_by_packet) ? kbl_whole_now() : 0;

	if (!err)
		atomic64_set(&kbl_breaks, 0);
	return err;
}

/* Something segmented, merged or rewrote packets, or could have. */
void kbl_whole_broken(void)
{
	atomic64_inc(&kbl_breaks);
}
NOKPROBE_SYMBOL(kbl_whole_broken);

static int kbl_whole_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	/* A new device is down; its features count once it is up. */
	if ((event == NETDEV_UP || event == NETDEV_FEAT_CHANGE || event == NETDEV_CHANGE) &&
	    kbl_device_breaks(netdev_notifier_info_to_dev(ptr)))
		kbl_whole_broken();
	return NOTIFY_DONE;
}

static struct notifier_block kbl_whole_nb = { .notifier_call = kbl_whole_event };

/*
 * Begin or stop to watch for what does not leave packets whole, or return the reason why packets
 * cannot be sampled.  Under the lock of the filter.
 */
int kbl_whole_watch(bool on)
{
	bool before = kbl_by_packet;
	int err;

	if (on && !before) {
		err = register_netdevice_notifier(&kbl_whole_nb);
		if (err)
			return err;
	}
	err = on ? kbl_whole_now() : 0;
	if (!err)
		WRITE_ONCE(kbl_by_packet, on);
	if ((on || before) && !kbl_by_packet)
		unregister_netdevice_notifier(&kbl_whole_nb);
	return err;
}

/* Signs that the sample is incomplete.  Each reading looks again, since NAT sends no notice. */
u64 kbl_whole_count(void)
{
	struct kbl_breaker found;

	if (READ_ONCE(kbl_by_packet) && kbl_find_breaker(&found))
		kbl_whole_broken();
	return atomic64_read(&kbl_breaks);
}
