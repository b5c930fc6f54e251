// SPDX-License-Identifier: GPL-2.0-only
/*
 * The network devices of all namespaces, by pointer.  skb->dev shares its memory with an rbtree
 * link and with UDP's scratch word.  So the pointer is looked up here, and never dereferenced.
 */
#include <linux/hash.h>
#include <linux/netdevice.h>
#include <linux/spinlock.h>
#include <net/net_namespace.h>

#include "kbl_internal.h"

#define KBL_DEV_BITS 10
#define KBL_DEV_WINDOW 16	/* slots searched, starting at the hash */

struct kbl_known_dev {
	const void *dev;	/* NULL: free, or unregistered but still shown */
	u32 ifindex;
	u32 netns;
	char name[IFNAMSIZ];
};

static struct kbl_known_dev kbl_devs[1 << KBL_DEV_BITS];
static DEFINE_SPINLOCK(kbl_dev_lock);

static __always_inline struct kbl_known_dev *kbl_dev_slot(const void *dev, unsigned int i)
{
	return &kbl_devs[(hash_ptr(dev, KBL_DEV_BITS) + i) & ((1 << KBL_DEV_BITS) - 1)];
}

bool kbl_dev_find(const void *dev, u32 *ifindex, u32 *netns)
{
	unsigned int i;

	for (i = 0; dev && i < KBL_DEV_WINDOW; i++) {
		struct kbl_known_dev *known = kbl_dev_slot(dev, i);

		/* Pairs with the release in kbl_dev_add(). */
		if (smp_load_acquire(&known->dev) == dev) {
			*ifindex = known->ifindex;
			*netns = known->netns;
			return true;
		}
	}
	return false;
}
NOKPROBE_SYMBOL(kbl_dev_find);

/* The slot of @dev.  If @dev has no slot: an unused slot, or the slot of an unregistered device. */
static struct kbl_known_dev *kbl_dev_place(const void *dev)
{
	struct kbl_known_dev *unused = NULL, *gone = NULL;
	unsigned int i;

	for (i = 0; i < KBL_DEV_WINDOW; i++) {
		struct kbl_known_dev *known = kbl_dev_slot(dev, i);

		if (known->dev == dev)
			return known;
		if (!known->dev && !known->ifindex)
			unused = unused ?: known;
		else if (!known->dev)
			gone = gone ?: known;
	}
	return unused ?: gone;
}

static void kbl_dev_add(struct net_device *dev)
{
	struct kbl_known_dev *known = kbl_dev_place(dev);

	if (!known) {
		pr_warn_once("kbl: too many network devices, some stay unknown\n");
		return;
	}
	known->ifindex = dev->ifindex;
	known->netns = dev_net(dev)->ns.inum;
	strscpy(known->name, dev->name, sizeof(known->name));
	/* Pairs with the acquire in kbl_dev_find(): the fields before the key. */
	smp_store_release(&known->dev, dev);
}

static void kbl_dev_remove(const void *dev)
{
	struct kbl_known_dev *known = kbl_dev_place(dev);

	if (known && known->dev == dev)
		WRITE_ONCE(known->dev, NULL);
}

static int kbl_dev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	spin_lock(&kbl_dev_lock);
	if (event == NETDEV_REGISTER || event == NETDEV_CHANGENAME)
		kbl_dev_add(dev);
	else if (event == NETDEV_UNREGISTER)
		kbl_dev_remove(dev);
	spin_unlock(&kbl_dev_lock);
	return NOTIFY_DONE;
}

static struct notifier_block kbl_dev_notifier = {
	.notifier_call = kbl_dev_event,
};

/* Registration replays the devices of every namespace. */
int kbl_dev_init(void)
{
	return register_netdevice_notifier(&kbl_dev_notifier);
}

void kbl_dev_exit(void)
{
	unregister_netdevice_notifier(&kbl_dev_notifier);
}

void kbl_dev_show(struct seq_file *m)
{
	unsigned int i;

	spin_lock(&kbl_dev_lock);
	for (i = 0; i < ARRAY_SIZE(kbl_devs); i++)
		if (kbl_devs[i].ifindex)
			seq_printf(m, "%u %u %s\n", kbl_devs[i].ifindex, kbl_devs[i].netns,
				   kbl_devs[i].name);
	spin_unlock(&kbl_dev_lock);
}
