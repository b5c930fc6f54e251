// SPDX-License-Identifier: GPL-2.0-only
/* What each CPU has told of the skbs it saw last, so that it is told once. */
#include "kbl_hot.h"

/* After a loss: nothing told before counts any more. */
void kbl_forget(struct kbl_cpu *c)
{
	unsigned int i;

	for (i = 0; i < 1 << KBL_KNOWN_BITS; i++) {
		c->known[i].addr = 0;
		c->known[i].watched = 1;	/* the address of no skb, NULL included */
	}
	c->task_pid = U32_MAX;
	c->told = false;
}
NOKPROBE_SYMBOL(kbl_forget);

/* Without the fields of struct kbl_known that are not words of a slot. */
static bool kbl_footprint_same(const struct kbl_footprint *a, const struct kbl_footprint *b)
{
	const u64 *x = (const u64 *)a, *y = (const u64 *)b;
	unsigned int i;
	u64 diff = a->slots ^ b->slots;

	for (i = 0; i < a->slots * (KBL_SLOT_SIZE / sizeof(u64)); i++)
		diff |= x[i] ^ y[i];
	return !diff;
}
NOKPROBE_SYMBOL(kbl_footprint_same);

static void kbl_footprint_write(struct kbl_cpu *c, u64 skb, const struct kbl_footprint *fp)
{
	struct kbl_event_slot *event = kbl_event(c, KBL_EV_FOOTPRINT, skb, 0);
	const union kbl_slot *from = (const union kbl_slot *)fp;
	unsigned int i;

	c->nlosable--;
	c->told = true;
	event->ext = fp->slots;
	for (i = 0; i < fp->slots; i++)
		*kbl_ext(c, from[i].skb.type) = from[i];
}
NOKPROBE_SYMBOL(kbl_footprint_write);

int kbl_footprint_read(struct kbl_footprint *fp, u64 skb)
{
	struct kbl_known k;
	int err = kbl_skb_read(&k, skb);

	*fp = k.told;
	return err;
}
NOKPROBE_SYMBOL(kbl_footprint_read);

/* Inside a batch: an event, if @fp is not what this CPU told last of @skb. */
void kbl_footprint_tell(struct kbl_cpu *c, u64 skb, const struct kbl_footprint *fp)
{
	struct kbl_known *k = kbl_known_slot(c, skb);

	if (k->addr == skb && kbl_footprint_same(&k->told, fp))
		return;
	k->addr = skb;
	k->watched = 1;
	k->told = *fp;
	kbl_footprint_write(c, skb, fp);
}
NOKPROBE_SYMBOL(kbl_footprint_tell);

/* Inside a batch: the same, read from the skb itself; 0 or -EFAULT. */
int kbl_skb_tell(struct kbl_cpu *c, u64 skb)
{
	struct kbl_known *k = kbl_known_slot(c, skb), new;

	if (kbl_skb_told(c, skb))
		return 0;
	if (kbl_skb_read(&new, skb))
		return -EFAULT;
	if (k->addr != skb || !kbl_footprint_same(&k->told, &new.told))
		kbl_footprint_write(c, skb, &new.told);
	*k = new;
	if (!k->watched)
		k->watched = 1;
	return 0;
}
NOKPROBE_SYMBOL(kbl_skb_tell);
