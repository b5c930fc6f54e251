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

/* What not every packet needs compared. */
bool kbl_watched_told(const struct kbl_known *k, const struct sk_buff *skb)
{
	const u64 *l3 = k->l3;

	if (k->watch & KBL_WATCH_DATA && !kbl_same64(&skb->data, k->data))
		return false;
	return !(k->watch & KBL_WATCH_IPV6) || (kbl_same64(l3 + 2, k->l3_word[2]) &&
		kbl_same64(l3 + 3, k->l3_word[3]) && kbl_same64(l3 + 4, k->l3_word[4]));
}
NOKPROBE_SYMBOL(kbl_watched_told);

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

/* The fields of the skb itself; true if one that is told changed. */
static bool kbl_refresh_skb(struct kbl_known *k, const struct sk_buff *skb)
{
	struct kbl_ext_skb *ext = &k->told.skb;
	u64 dev, sk, data, diff;
	u32 len, mark, gso;

	kbl_get(dev, (u64 *)&skb->dev, fault);
	kbl_get(sk, (u64 *)&skb->sk, fault);
	kbl_get(data, (u64 *)&skb->data, fault);
	kbl_get(len, &skb->len, fault);
	kbl_get(mark, &skb->mark, fault);
	kbl_get(gso, (u32 *)k->gso, fault);
	diff = (dev ^ k->dev) | (sk ^ k->sk) | ((data + len) ^ k->end) | (mark ^ k->mark) |
	       (gso ^ k->gso_word);
	if (dev != k->dev) {
		ext->ifindex = 0;
		ext->netns = 0;
		kbl_dev_find((const void *)(unsigned long)dev, &ext->ifindex, &ext->netns);
	}
	k->dev = dev;
	k->sk = sk;
	k->end = data + len;
	k->mark = mark;
	k->gso_word = gso;
	ext->sk = sk;
	ext->len = len;
	ext->mark = mark;
	ext->gso_size = ((u16 *)&gso)[0];
	ext->gso_segs = ((u16 *)&gso)[1];
	return diff;
fault:
	k->watched = 1;
	return true;
}
NOKPROBE_SYMBOL(kbl_refresh_skb);

/*
 * Most often a packet moves on and its headers stay.  Where they are where they
 * were and say what they said, they need not be taken apart again.
 */
static bool kbl_refresh(struct kbl_cpu *c, struct kbl_known *k, u64 addr)
{
	const struct sk_buff *skb = (const struct sk_buff *)(unsigned long)addr;

	if (k->watched != addr || !kbl_same64(&skb->head, k->head) ||
	    !kbl_same16(&skb->protocol, k->protocol) ||
	    !kbl_same16(&skb->network_header, k->network) || !kbl_headers_told(k, skb))
		return false;
	if (kbl_refresh_skb(k, skb))
		kbl_footprint_write(c, addr, &k->told);
	return true;
}
NOKPROBE_SYMBOL(kbl_refresh);

/* Apart, as the kernel clears what lies on the stack of a function that is entered. */
static noinline int kbl_skb_tell_anew(struct kbl_cpu *c, struct kbl_known *k, u64 skb)
{
	struct kbl_known new;

	if (kbl_skb_read(&new, skb))
		return -EFAULT;
	if (k->addr != skb || !kbl_footprint_same(&k->told, &new.told))
		kbl_footprint_write(c, skb, &new.told);
	*k = new;
	if (!k->watched)
		k->watched = 1;
	return 0;
}
NOKPROBE_SYMBOL(kbl_skb_tell_anew);

/* Inside a batch: the same, read from the skb itself; 0 or -EFAULT. */
int kbl_skb_tell(struct kbl_cpu *c, u64 skb)
{
	struct kbl_known *k = kbl_known_slot(c, skb);

	if (kbl_skb_told(c, skb) || kbl_refresh(c, k, skb))
		return 0;
	return kbl_skb_tell_anew(c, k, skb);
}
NOKPROBE_SYMBOL(kbl_skb_tell);
