// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records are collected in a batch.  A batch is written completely or lost completely.
 *
 * TASK and FOOTPRINT records are written only when something changed.  After a loss, this CPU
 * forgets which of them it wrote.  So they are written again, and a reader never relies on an
 * outdated one.
 */
#include "kbl_record.h"

/* Write a LOST record, which must precede the next record. */
static void kbl_emit_loss(struct kbl_cpu *c, u8 reason, u64 first_ns, u64 count)
{
	struct kbl_lost_slot *lost = &kbl_head(c)->lost;

	c->nlosable--;
	lost->kind = KBL_LOST;
	lost->reason = reason;
	lost->func = U32_MAX;
	lost->ts = c->now;
	lost->first_ns = first_ns;
	lost->count = count;
}
NOKPROBE_SYMBOL(kbl_emit_loss);

/*
 * Write a TASK record; with the thread's name if this CPU sees it the first time, or if the
 * name changed.
 */
static void kbl_emit_task(struct kbl_cpu *c)
{
	const struct task_struct *p = current;
	const u64 *comm = (const u64 *)p->comm;
	struct kbl_seen *seen = &c->seen[p->pid & (KBL_SEEN_TASKS - 1)];
	struct kbl_event_slot *event = kbl_event(c, KBL_EV_TASK, 0, p->tgid);
	struct kbl_ext_comm *ext;

	c->nlosable--;
	c->remembers = true;
	c->last_who.pid = p->pid;
	c->task_comm[0] = comm[0];
	c->task_comm[1] = comm[1];
	if (seen->pid == p->pid + 1 && seen->comm[0] == comm[0] && seen->comm[1] == comm[1])
		return;
	event->ext = 1;
	ext = &kbl_ext(c, KBL_EXT_COMM)->comm;
	ext->tid = p->pid;
	seen->pid = p->pid + 1;
	seen->comm[0] = comm[0];
	seen->comm[1] = comm[1];
	c->fresh = seen;
	memcpy(ext->comm, comm, sizeof(ext->comm));
	ext->comm[sizeof(ext->comm) - 1] = 0;
}
NOKPROBE_SYMBOL(kbl_emit_task);

static void kbl_batch_reset(struct kbl_cpu *c)
{
	c->base = kbl_room(c, KBL_BATCH_SLOTS) ?: c->slots;
	c->nslots = 0;
	c->nheads = 0;
	c->nlosable = 0;
	c->has_losses = false;
}
NOKPROBE_SYMBOL(kbl_batch_reset);

static __always_inline void kbl_emit_losses(struct kbl_cpu *c)
{
	c->has_losses = true;
	c->nested_in_batch = c->nested_pending;
	if (c->gap)
		kbl_emit_loss(c, KBL_LOST_BUFFER, c->lost_first_ns, c->lost_pending);
	if (c->nested_in_batch)
		kbl_emit_loss(c, KBL_LOST_NESTED, c->nested_first_ns, c->nested_in_batch);
}

/* Records were lost, and no record says so yet. */
static bool kbl_has_lost(const struct kbl_cpu *c)
{
	return c->gap || c->nested_pending;
}

/* At the time c->now, between kbl_busy() and kbl_idle(). */
void kbl_batch_begin(struct kbl_cpu *c)
{
	kbl_batch_reset(c);
	c->fresh = NULL;
	if (unlikely(c->slow))
		kbl_emit_losses(c);
	if (!kbl_task_same(c))
		kbl_emit_task(c);
	c->nprelude = c->nslots;
}
NOKPROBE_SYMBOL(kbl_batch_begin);

/* After a loss: TASK and FOOTPRINT records before it do not count any more. */
void kbl_forget(struct kbl_cpu *c)
{
	unsigned int i;

	for (i = 0; i < 1 << KBL_KNOWN_BITS; i++)
		kbl_known_none(&c->known[i]);
	c->last_who.pid = U32_MAX;
	c->remembers = false;
}
NOKPROBE_SYMBOL(kbl_forget);

/*
 * Records are lost at the time c->now.  @records may be 0: then only TASK or FOOTPRINT records
 * are lost.
 */
void kbl_lose(struct kbl_cpu *c, unsigned int records)
{
	if (!c->gap)
		c->lost_first_ns = c->now;
	c->gap = true;
	c->lost_pending += records;
	c->lost += records;
	kbl_slow(c);
	if (c->remembers) {
		memset(c->seen, 0, sizeof(c->seen));
		kbl_forget(c);
	}
}
NOKPROBE_SYMBOL(kbl_lose);

/* A probe fired while this CPU wrote another record. */
void kbl_nested(struct kbl_cpu *c)
{
	c->nested++;
	if (!c->nested_pending++)
		c->nested_first_ns = c->now;
	kbl_slow(c);
}
NOKPROBE_SYMBOL(kbl_nested);

/* Write the batch, or count all its records as lost. */
static bool kbl_batch_commit(struct kbl_cpu *c)
{
	if (c->base == c->slots && unlikely(!kbl_relay_copy(c))) {
		kbl_lose(c, c->nlosable);
		return false;
	}
	kbl_put(c, c->at + c->nslots);
	c->written += c->nheads;
	if (unlikely(c->has_losses)) {
		c->gap = false;
		c->lost_pending = 0;
		c->nested_pending -= c->nested_in_batch;
		c->slow = c->nested_pending;
		kbl_limit(c);
	}
	return true;
}
NOKPROBE_SYMBOL(kbl_batch_commit);

/*
 * Record the losses of a CPU that records no more, if no record followed them: they lasted
 * until its last hit.  Returns false if there are none, or if there is no room yet.
 */
bool kbl_emit_last_losses(struct kbl_cpu *c)
{
	if (!c->buf || !(c->gap || c->nested_pending))
		return false;
	kbl_batch_reset(c);
	kbl_emit_losses(c);
	return kbl_batch_commit(c);
}

/* A batch that contains only a thread's name is not worth writing. */
bool kbl_batch_end(struct kbl_cpu *c)
{
	if (c->nslots != c->nprelude || c->has_losses)
		return kbl_batch_commit(c);
	if (c->nslots)
		c->last_who.pid = U32_MAX;
	if (c->fresh)
		c->fresh->pid = 0;
	return true;
}
NOKPROBE_SYMBOL(kbl_batch_end);

/*
 * Open a batch on this CPU, with interrupts off, at a new time.  Returns NULL if the probe
 * fired inside another record.
 */
struct kbl_cpu *kbl_batch_open(void)
{
	unsigned long irq = kbl_irq_off(true);
	struct kbl_cpu *c = __this_cpu_read(kbl_cpu);

	if (unlikely(kbl_is_busy(c))) {
		kbl_nested(c);
		kbl_irq_back(irq, true);
		return NULL;
	}
	kbl_busy(c, irq);
	kbl_instant(c);
	kbl_batch_begin(c);
	return c;
}
NOKPROBE_SYMBOL(kbl_batch_open);

/* Begin a batch for an event: as kbl_batch_open(), but also NULL if nothing is recorded now. */
struct kbl_cpu *kbl_event_open(void)
{
	return likely(data_race(kbl_active)) ? kbl_batch_open() : NULL;
}
NOKPROBE_SYMBOL(kbl_event_open);

/*
 * After a stop, as kbl_batch_open().  Its records get the time of this CPU's last one, unless
 * records were lost since: to disarm may take long, and the log must not seem to last until now.
 */
struct kbl_cpu *kbl_batch_open_last(void)
{
	unsigned long irq = kbl_irq_off(true);
	struct kbl_cpu *c = __this_cpu_read(kbl_cpu);

	if (unlikely(kbl_is_busy(c))) {
		kbl_irq_back(irq, true);
		return NULL;
	}
	kbl_busy(c, irq);
	if (kbl_has_lost(c))
		kbl_instant(c);
	kbl_batch_begin(c);
	return c;
}

/* Write the batch, or count it as lost. */
bool kbl_batch_close(struct kbl_cpu *c)
{
	bool whole = kbl_batch_end(c);

	kbl_idle(c, true);
	return whole;
}
NOKPROBE_SYMBOL(kbl_batch_close);

/* Write a full batch in parts.  There is always room for the EXT slots of the last head. */
void kbl_batch_part(struct kbl_cpu *c)
{
	kbl_batch_commit(c);
	kbl_batch_reset(c);
	c->nprelude = 0;
	c->fresh = NULL;
}
NOKPROBE_SYMBOL(kbl_batch_part);

static __always_inline void kbl_slot_clear(union kbl_slot *slot)
{
	slot->words[0] = 0;
	slot->words[1] = 0;
	slot->words[2] = 0;
	slot->words[3] = 0;
}

/* Reserve the head slot of a record, zeroed. */
union kbl_slot *kbl_head(struct kbl_cpu *c)
{
	union kbl_slot *slot = kbl_head_raw(c);

	kbl_slot_clear(slot);
	return slot;
}
NOKPROBE_SYMBOL(kbl_head);

/* Reserve an EXT slot.  The caller counts it in the head's ext. */
union kbl_slot *kbl_ext(struct kbl_cpu *c, u8 type)
{
	union kbl_slot *slot = &c->base[c->nslots++];

	kbl_slot_clear(slot);
	slot->skb.kind = KBL_EXT;
	slot->skb.type = type;
	return slot;
}
NOKPROBE_SYMBOL(kbl_ext);

static noinline struct kbl_event_slot *kbl_event_part(struct kbl_cpu *c, u8 event, u64 skb,
						      u64 data)
{
	kbl_batch_part(c);
	return kbl_event(c, event, skb, data);
}
NOKPROBE_SYMBOL(kbl_event_part);

struct kbl_event_slot *kbl_event(struct kbl_cpu *c, u8 event, u64 skb, u64 data)
{
	union kbl_slot *slot;

	if (unlikely(kbl_batch_full(c)))
		return kbl_event_part(c, event, skb, data);
	slot = kbl_head_raw(c);
	kbl_event_fill(slot, c->now, event, 0, skb, data);
	return &slot->event;
}
NOKPROBE_SYMBOL(kbl_event);

void kbl_event_alone_slow(u8 event, u64 skb, u64 data)
{
	struct kbl_cpu *c;

	c = kbl_event_open();
	if (!c)
		return;
	kbl_event(c, event, skb, data);
	kbl_batch_close(c);
}
NOKPROBE_SYMBOL(kbl_event_alone_slow);

/* Before a recording: it begins with no TASK and no FOOTPRINT record. */
void kbl_batch_start(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct kbl_cpu *c = per_cpu(kbl_cpu, cpu);

		memset(c->seen, 0, sizeof(c->seen));
		kbl_forget(c);
	}
}

static void kbl_flush_this_cpu(void *unused)
{
	struct kbl_cpu *c = __this_cpu_read(kbl_cpu);

	if (!kbl_has_lost(c))
		return;
	c = kbl_batch_open_last();
	if (c)
		kbl_batch_close(c);
}

/* After a stop: record the losses that no later record reported. */
void kbl_batch_stop(void)
{
	on_each_cpu(kbl_flush_this_cpu, NULL, 1);
}
