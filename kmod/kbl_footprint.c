// SPDX-License-Identifier: GPL-2.0-only
/*
 * The footprints that each CPU recorded last.  They are kept so that an unchanged footprint is
 * not recorded again.
 */
#include "kbl_footprint.h"

#ifdef __BIG_ENDIAN
const u64 kbl_place_mask = 0xffff0000ffff0000ULL;
#else
const u64 kbl_place_mask = 0x0000ffff0000ffffULL;
#endif

bool kbl_watched_same(const struct kbl_known *k, const struct sk_buff *skb)
{
	return kbl_watched_equal(k, skb);
}
NOKPROBE_SYMBOL(kbl_watched_same);

/* The earlier footprint is passed as an array of words. */
static __always_inline bool kbl_footprint_same(const u64 *was, unsigned int slots,
					       const struct kbl_footprint *fp)
{
	const u64 *now = (const u64 *)fp;
	unsigned int i;

	if (slots != fp->slots)
		return false;
	for (i = 0; i < slots * (KBL_SLOT_SIZE / sizeof(u64)); i++)
		if (was[i] != now[i])
			return false;
	return true;
}

static void kbl_footprint_write(struct kbl_cpu *c, u64 skb, const struct kbl_footprint *fp)
{
	struct kbl_event_slot *event = kbl_event(c, KBL_EV_FOOTPRINT, skb, 0);

	c->nlosable--;
	c->remembers = true;
	event->ext = fp->slots;
	kbl_footprint_copy((u64 *)(event + 1), fp);
	c->nslots += fp->slots;
}
NOKPROBE_SYMBOL(kbl_footprint_write);

int kbl_footprint_read(struct kbl_footprint *fp, u64 skb)
{
	struct kbl_known k;
	int err = kbl_skb_read(&k, skb);

	*fp = k.fp;
	return err;
}
NOKPROBE_SYMBOL(kbl_footprint_read);

/* Inside a batch: record @fp unless it is the footprint that this CPU recorded last of @skb. */
void kbl_footprint_emit(struct kbl_cpu *c, u64 skb, const struct kbl_footprint *fp)
{
	struct kbl_known *k = kbl_known_slot(c, skb);

	if (k->addr == skb && kbl_footprint_same((const u64 *)&k->fp, k->fp.slots, fp))
		return;
	kbl_known_none(k);
	k->addr = skb;
	k->fp = *fp;
	kbl_footprint_write(c, skb, fp);
}
NOKPROBE_SYMBOL(kbl_footprint_emit);

/*
 * Usually a packet moves on and its headers stay the same.  Then they need not be parsed again:
 * only the fields of the skb itself are read, one of which has changed. Returns 1 or -EFAULT.
 */
static __always_inline int kbl_refresh(struct kbl_known *k, const struct sk_buff *skb)
{
	struct kbl_ext_skb *ext = &k->fp.skb;
	int err = kbl_fields_load(k, skb);
	u64 dev;

	kbl_load(dev, (u64 *)&skb->dev, err);
	if (unlikely(err)) {
		kbl_known_none(k);
		return err;
	}
	if (dev != k->dev) {
		ext->ifindex = 0;
		ext->netns = 0;
		kbl_dev_find((const void *)(unsigned long)dev, &ext->ifindex, &ext->netns);
		k->dev = dev;
	}
	return 1;
}

/* Read the whole footprint in place.  Returns 1 if it changed, 0 or -EFAULT. */
int kbl_read_anew(struct kbl_known *k, u64 addr)
{
	u64 was[12] KBL_NOT_CLEARED;
	unsigned int slots = 0;

	if (k->addr == addr) {
		kbl_footprint_copy(was, &k->fp);
		slots = k->fp.slots;
	}
	if (unlikely(kbl_skb_read(k, addr))) {
		kbl_known_none(k);
		return -EFAULT;
	}
	return !kbl_footprint_same(was, slots, &k->fp);
}
NOKPROBE_SYMBOL(kbl_read_anew);

/* Update @k.  Returns 1 if the footprint must be recorded, 0 if it was, or -EFAULT. */
static __always_inline int kbl_known_update(struct kbl_known *k, u64 addr)
{
	const struct sk_buff *skb = (const struct sk_buff *)(unsigned long)addr;

	if (!kbl_packet_same(k, skb))
		return kbl_read_anew(k, addr);
	return kbl_fields_same(k, skb) ? 0 : kbl_refresh(k, skb);
}

/*
 * Inside a batch: record the footprint unless this CPU recorded the same one last.  Returns 0
 * or -EFAULT.
 */
int kbl_skb_emit(struct kbl_cpu *c, u64 skb)
{
	struct kbl_known *k = kbl_known_slot(c, skb);
	int changed = kbl_known_update(k, skb);

	if (changed > 0)
		kbl_footprint_write(c, skb, &k->fp);
	return min(changed, 0);
}
NOKPROBE_SYMBOL(kbl_skb_emit);

noinline bool kbl_footprint_batch(struct kbl_cpu *c, u64 skb, const struct kbl_footprint *fp)
{
	kbl_batch_begin(c);
	kbl_footprint_write(c, skb, fp);
	return kbl_batch_end(c);
}
NOKPROBE_SYMBOL(kbl_footprint_batch);

/*
 * Outside a batch: record the footprint at the time c->now, unless this CPU recorded the same
 * one last.  Returns false if it cannot be read or is lost.  No TASK record is needed before
 * it, since an event contains its thread.
 */
bool kbl_skb_emit_alone(struct kbl_cpu *c, u64 skb)
{
	struct kbl_known *k = kbl_known_slot(c, skb);

	return kbl_emit_known(c, k, skb, kbl_known_update(k, skb));
}
NOKPROBE_SYMBOL(kbl_skb_emit_alone);
