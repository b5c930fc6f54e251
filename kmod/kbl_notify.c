// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes that are not about a packet, reported by the kernel's notifiers: neighbours,
 * addresses, links, modules and the clock.  When a notifier is registered, it replays the
 * present state.  These replays are not recorded as changes.
 */
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/pvclock_gtod.h>
#include <linux/timekeeper_internal.h>
#include <net/addrconf.h>
#include <net/netevent.h>

#include "kbl_events.h"


/* The thread that is registering or unregistering a notifier.  Calls in this thread are replays. */
static struct task_struct *kbl_replaying;

/* CLOCK_REALTIME - CLOCK_MONOTONIC in the last notification. */
static s64 kbl_offs_real;
static bool kbl_offs_known;

static u32 kbl_netns(const struct net_device *dev)
{
	return dev_net(dev)->ns.inum;
}

static u64 kbl_change(bool gone, u32 netns)
{
	return (gone ? KBL_CHANGE_GONE : KBL_CHANGE_SET) | (u64)netns << 32;
}

static void kbl_neigh_emit(bool gone, const struct net_device *dev, u8 family, const void *key,
			   u8 state, const u8 *lladdr)
{
	struct kbl_event_slot *event;
	struct kbl_ext_neigh *ext;
	struct kbl_cpu *c;

	c = kbl_event_open();
	if (!c)
		return;
	event = kbl_event(c, KBL_EV_NEIGH, 0, kbl_change(gone, kbl_netns(dev)));
	event->ext = 1;
	ext = &kbl_ext(c, KBL_EXT_NEIGH)->neigh;
	ext->family = family;
	ext->nud_state = state;
	ext->ifindex = dev->ifindex;
	memcpy(ext->addr, key, family == AF_INET ? 4 : 16);
	if (lladdr)
		memcpy(ext->lladdr, lladdr, sizeof(ext->lladdr));
	kbl_batch_close(c);
}

/* DECnet's keys had two bytes, so only these two families are recorded. */
static bool kbl_neigh_family(const struct neigh_table *table)
{
	return table->family == AF_INET || table->family == AF_INET6;
}

void kbl_on_neigh_create(void *data, struct neigh_table *table, struct net_device *dev,
			 const void *key, const struct neighbour *neigh, bool exempt_from_gc)
{
	if (neigh && kbl_neigh_family(table))
		kbl_neigh_emit(false, dev, table->family, key, NUD_NONE, NULL);
}
NOKPROBE_SYMBOL(kbl_on_neigh_create);

static int kbl_netevent(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct neighbour *neigh = ptr;
	u8 lladdr[ALIGN(MAX_ADDR_LEN, sizeof(long))] = {};

	if (event != NETEVENT_NEIGH_UPDATE || !kbl_neigh_family(neigh->tbl))
		return NOTIFY_DONE;
	neigh_ha_snapshot(lladdr, neigh, neigh->dev);
	kbl_neigh_emit(neigh->dead, neigh->dev, neigh->tbl->family, neigh->primary_key,
		       READ_ONCE(neigh->nud_state), lladdr);
	return NOTIFY_DONE;
}

/* Append an EXT_ADDR to the last head. */
static void kbl_addr_ext(struct kbl_cpu *c, const struct net_device *dev, u8 family,
			 const void *addr, u8 prefix_len)
{
	struct kbl_ext_addr *ext = &kbl_ext(c, KBL_EXT_ADDR)->addr;

	ext->family = family;
	ext->prefix_len = prefix_len;
	ext->ifindex = dev->ifindex;
	ext->netns = kbl_netns(dev);
	ext->flags = dev_get_flags(dev);
	if (family)
		memcpy(ext->addr, addr, family == AF_INET ? 4 : 16);
}

static int kbl_addr_emit(unsigned long event, const struct net_device *dev, u8 family,
			 const void *addr, u8 prefix_len)
{
	struct kbl_cpu *c;

	if (event != NETDEV_UP && event != NETDEV_DOWN)
		return NOTIFY_DONE;
	c = kbl_event_open();
	if (!c)
		return NOTIFY_DONE;
	kbl_event(c, KBL_EV_ADDR, 0, kbl_change(event == NETDEV_DOWN, kbl_netns(dev)))->ext = 1;
	kbl_addr_ext(c, dev, family, addr, prefix_len);
	kbl_batch_close(c);
	return NOTIFY_DONE;
}

static int kbl_inetaddr(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct in_ifaddr *ifa = ptr;

	return kbl_addr_emit(event, ifa->ifa_dev->dev, AF_INET, &ifa->ifa_local,
			     ifa->ifa_prefixlen);
}

#if IS_ENABLED(CONFIG_IPV6)
static int kbl_inet6addr(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct inet6_ifaddr *ifa = ptr;

	return kbl_addr_emit(event, ifa->idev->dev, AF_INET6, &ifa->addr, ifa->prefix_len);
}

static struct notifier_block kbl_inet6addr_nb = { .notifier_call = kbl_inet6addr };

static int kbl_inet6addr_start(void)
{
	return register_inet6addr_notifier(&kbl_inet6addr_nb);
}

static void kbl_inet6addr_stop(void)
{
	unregister_inet6addr_notifier(&kbl_inet6addr_nb);
}
#else
static int kbl_inet6addr_start(void)
{
	return 0;
}

static void kbl_inet6addr_stop(void)
{
}
#endif

static bool kbl_link_changes(unsigned long event)
{
	switch (event) {
	case NETDEV_REGISTER:
	case NETDEV_UNREGISTER:
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGENAME:
		return true;
	}
	return false;
}

static int kbl_link(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct kbl_event_slot *slot;
	struct kbl_cpu *c;
	u64 data = kbl_change(event == NETDEV_UNREGISTER, kbl_netns(dev));

	if (!kbl_link_changes(event) || READ_ONCE(kbl_replaying) == current)
		return NOTIFY_DONE;
	c = kbl_event_open();
	if (!c)
		return NOTIFY_DONE;
	slot = kbl_event(c, KBL_EV_LINK, 0, data);
	kbl_addr_ext(c, dev, 0, NULL, 0);
	slot->ext = 1 + kbl_name_ext(c, dev->name);
	kbl_batch_close(c);
	return NOTIFY_DONE;
}

static int kbl_module(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct module *module = ptr;
	struct kbl_event_slot *slot;
	struct kbl_cpu *c;

	if (event != MODULE_STATE_LIVE && event != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	c = kbl_event_open();
	if (!c)
		return NOTIFY_DONE;
	slot = kbl_event(c, KBL_EV_MODULE, 0, kbl_change(event == MODULE_STATE_GOING, 0));
	slot->ext = kbl_name_ext(c, module->name);
	kbl_batch_close(c);
	return NOTIFY_DONE;
}

/*
 * Called at each tick, under the timekeeper's raw lock.  The offset changes only if the clock
 * was set.  The first call comes from the registration.
 */
static int kbl_clock(struct notifier_block *nb, unsigned long was_set, void *ptr)
{
	const struct timekeeper *tk = ptr;
	s64 offset = ktime_to_ns(tk->offs_real);
	struct kbl_cpu *c;

	if (!was_set || (kbl_offs_known && offset == kbl_offs_real))
		return NOTIFY_DONE;
	kbl_offs_real = offset;
	if (!kbl_offs_known) {
		kbl_offs_known = true;
		return NOTIFY_DONE;
	}
	c = kbl_event_open();
	if (!c)
		return NOTIFY_DONE;
	kbl_event(c, KBL_EV_CLOCK_SET, 0, offset);
	kbl_batch_close(c);
	return NOTIFY_DONE;
}
NOKPROBE_SYMBOL(kbl_clock);

static struct notifier_block kbl_netevent_nb = { .notifier_call = kbl_netevent };
static struct notifier_block kbl_inetaddr_nb = { .notifier_call = kbl_inetaddr };
static struct notifier_block kbl_link_nb = { .notifier_call = kbl_link };
static struct notifier_block kbl_module_nb = { .notifier_call = kbl_module };
static struct notifier_block kbl_clock_nb = { .notifier_call = kbl_clock };

/* Registration notifies everyone on the clock's chain that the clock was set, which is harmless. */
static int kbl_clock_start(void)
{
	kbl_offs_known = false;
	return pvclock_gtod_register_notifier(&kbl_clock_nb);
}

static int kbl_link_start(void)
{
	int err;

	WRITE_ONCE(kbl_replaying, current);
	err = register_netdevice_notifier(&kbl_link_nb);
	WRITE_ONCE(kbl_replaying, NULL);
	return err;
}

static void kbl_link_stop(void)
{
	WRITE_ONCE(kbl_replaying, current);
	unregister_netdevice_notifier(&kbl_link_nb);
	WRITE_ONCE(kbl_replaying, NULL);
}

int kbl_notify_start(void)
{
	int err;

	err = register_netevent_notifier(&kbl_netevent_nb);
	if (err)
		return err;
	err = register_inetaddr_notifier(&kbl_inetaddr_nb);
	if (err)
		goto no_inetaddr;
	err = kbl_inet6addr_start();
	if (err)
		goto no_inet6addr;
	err = kbl_link_start();
	if (err)
		goto no_link;
	err = register_module_notifier(&kbl_module_nb);
	if (err)
		goto no_module;
	err = kbl_clock_start();
	if (err)
		goto no_clock;
	err = kbl_route_start();
	if (err)
		goto no_route;
	return 0;

no_route:
	pvclock_gtod_unregister_notifier(&kbl_clock_nb);
no_clock:
	unregister_module_notifier(&kbl_module_nb);
no_module:
	kbl_link_stop();
no_link:
	kbl_inet6addr_stop();
no_inet6addr:
	unregister_inetaddr_notifier(&kbl_inetaddr_nb);
no_inetaddr:
	unregister_netevent_notifier(&kbl_netevent_nb);
	return err;
}

void kbl_notify_stop(void)
{
	kbl_route_stop();
	pvclock_gtod_unregister_notifier(&kbl_clock_nb);
	unregister_module_notifier(&kbl_module_nb);
	kbl_link_stop();
	kbl_inet6addr_stop();
	unregister_inetaddr_notifier(&kbl_inetaddr_nb);
	unregister_netevent_notifier(&kbl_netevent_nb);
}
