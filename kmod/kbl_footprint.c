// SPDX-License-Identifier: GPL-2.0-only
/* What each CPU has told of the skbs it saw last, so that it is told once. */
#include "kbl_hot.h"

/* What not every packet needs compared. */
KBL_SELDOM bool kbl_watched_told(const struct kbl_known *k, const struct sk_buff *skb)
{
	const u64 *l3 = k->l3;

	if (k->watch & KBL_WATCH_DATA && !kbl_same64(&skb->data, k->data))
		return false;
	return !(k->watch & KBL_WATCH_IPV6) || (kbl_same64(l3 + 2, k->l3_word[2]) &&
		kbl_same64(l3 + 3, k->l3_word[3]) && kbl_same64(l3 + 4, k->l3_word[4]));
}
NOKPROBE_SYMBOL(kbl_watched_told);

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

/* No loop: compilers leave it one. */
static __always_inline void kbl_slot_copy(u64 *to, const u64 *from)
{
	to[0] = from[0];
	to[1] = from[1];
	to[2] = from[2];
	to[3] = from[3];
}

static __always_inline void kbl_footprint_copy(u64 *to, const struct kbl_footprint *fp)
{
	const u64 *from = (const u64 *)fp;

	kbl_slot_copy(to, from);
	if (fp->slots == 1)
		return;
	kbl_slot_copy(to + 4, from + 4);
	if (likely(fp->slots == 2))
		return;
	kbl_slot_copy(to + 8, from + 8);
}

/* Of what was told before only the words are at hand. */
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
	c->told = true;
	event->ext = fp->slots;
	kbl_footprint_copy((u64 *)(event + 1), fp);
	c->nslots += fp->slots;
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

	if (k->addr == skb && kbl_footprint_same((const u64 *)&k->told, k->told.slots, fp))
		return;
	k->addr = skb;
	k->watched = 1;
	k->told = *fp;
	kbl_footprint_write(c, skb, fp);
}
NOKPROBE_SYMBOL(kbl_footprint_tell);

/*
 * Most often a packet moves on and its headers stay: where they are where they
 * were and say what they said, they need not be taken apart again.
 */
static __always_inline bool kbl_headers_kept(const struct kbl_known *k, const struct sk_buff *skb)
{
	return k->watched == (unsigned long)skb && kbl_same64(&skb->head, k->head) &&
	       kbl_same16(&skb->protocol, k->protocol) &&
	       kbl_same16(&skb->network_header, k->network) && kbl_headers_told(k, skb);
}

/* Then only the fields of the skb itself; 1: one that is told changed, 0: none, -EFAULT. */
static __always_inline int kbl_refresh(struct kbl_known *k, const struct sk_buff *skb)
{
	struct kbl_ext_skb *ext = &k->told.skb;
	u64 dev, sk, data, diff;
	u32 len, mark, gso;
	int err = 0;

	kbl_load(dev, (u64 *)&skb->dev, err);
	kbl_load(sk, (u64 *)&skb->sk, err);
	kbl_load(data, (u64 *)&skb->data, err);
	kbl_load(len, &skb->len, err);
	kbl_load(mark, &skb->mark, err);
	kbl_load(gso, (u32 *)k->gso, err);
	if (unlikely(err))
		return err;
	diff = (sk ^ k->sk) | ((data + len) ^ k->end) | (mark ^ k->mark) | (gso ^ k->gso_word);
	if (dev != k->dev) {
		ext->ifindex = 0;
		ext->netns = 0;
		if (dev)
			kbl_dev_find((const void *)(unsigned long)dev, &ext->ifindex,
				     &ext->netns);
		k->dev = dev;
	} else if (!diff) {
		return 0;
	}
	k->sk = sk;
	k->end = data + len;
	k->mark = mark;
	k->gso_word = gso;
	ext->sk = sk;
	ext->len = len;
	ext->mark = mark;
	ext->gso_size = ((u16 *)&gso)[0];
	ext->gso_segs = ((u16 *)&gso)[1];
	return 1;
}

/* All of it, in place; as kbl_refresh(). */
static int kbl_read_anew(struct kbl_known *k, u64 addr)
{
	u64 was[12] KBL_NOT_CLEARED;
	unsigned int slots = 0;

	if (k->addr == addr) {
		kbl_footprint_copy(was, &k->told);
		slots = k->told.slots;
	}
	if (unlikely(kbl_skb_read(k, addr))) {
		k->addr = 0;
		k->watched = 1;
		return -EFAULT;
	}
	if (!k->watched)
		k->watched = 1;
	return !kbl_footprint_same(was, slots, &k->told);
}
NOKPROBE_SYMBOL(kbl_read_anew);

/* What the skb holds now, into @k; 1: it is to be told, 0: it was, -EFAULT. */
static __always_inline int kbl_known_update(struct kbl_known *k, u64 addr)
{
	const struct sk_buff *skb = (const struct sk_buff *)(unsigned long)addr;

	if (kbl_headers_kept(k, skb))
		return kbl_refresh(k, skb);
	return kbl_read_anew(k, addr);
}

/* Inside a batch: its footprint, if that is not what this CPU told last; 0 or -EFAULT. */
int kbl_skb_tell(struct kbl_cpu *c, u64 skb)
{
	struct kbl_known *k = kbl_known_slot(c, skb);
	int changed = kbl_known_update(k, skb);

	if (changed > 0)
		kbl_footprint_write(c, skb, &k->told);
	return min(changed, 0);
}
NOKPROBE_SYMBOL(kbl_skb_tell);

static noinline bool kbl_footprint_batch(struct kbl_cpu *c, u64 skb, const struct kbl_footprint *fp)
{
	kbl_batch_begin(c);
	kbl_footprint_write(c, skb, fp);
	return kbl_batch_end(c);
}
NOKPROBE_SYMBOL(kbl_footprint_batch);

/*
 * Outside of a batch the same, at the instant c->now; false also if it is lost.
 * The thread need not be told before, as events tell their own.
 */
bool kbl_skb_tell_alone(struct kbl_cpu *c, u64 skb)
{
	struct kbl_known *k = kbl_known_slot(c, skb);
	int changed = kbl_known_update(k, skb);
	union kbl_slot *slot;

	if (changed <= 0)
		return !changed;
	slot = c->slow ? NULL : kbl_room(c, 1 + k->told.slots);
	if (unlikely(!slot))
		return kbl_footprint_batch(c, skb, &k->told);
	kbl_event_fill(slot, c->now, KBL_EV_FOOTPRINT, k->told.slots, skb, 0);
	kbl_footprint_copy(slot[1].words, &k->told);
	c->told = true;
	kbl_put(c, 1 + k->told.slots);
	c->written++;
	return true;
}
NOKPROBE_SYMBOL(kbl_skb_tell_alone);
