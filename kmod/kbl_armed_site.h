/* SPDX-License-Identifier: GPL-2.0-only */
/* Entry and exit of functions with probes in their source.  A part of kbl_source.c. */
#ifndef KBL_ARMED_SITE_H
#define KBL_ARMED_SITE_H

#include <linux/kbl_probe.h>

#include "kbl_fake_regs.h"
#include "kbl_hot.h"
#include "kbl_open_calls.h"

/* An armed site, and where its carriers are stored. */
struct kbl_armed_site {
	struct kbl_target *target;
	u8 plain;		/* the only carrier that is read, from 1; 0: several */
	u8 nr;			/* number of carriers that the site passes */
	u16 offset[KBL_SITE_CARRIERS];	/* in struct kbl_fake_regs */
	struct kbl_site *site;	/* NULL: its module was unloaded; under kbl_sites_lock() */
};

/* Set every argument that the target may read, and NULL where the site passes none. */
static void kbl_fake_all(struct kbl_fake_regs *f, const struct kbl_armed_site *s, const void *first,
			 const void *const *more)
{
	unsigned int i;

	for (i = 0; i < KBL_REG_ARGS; i++)
		kbl_fake(f, kbl_arg_offset(i), NULL);
	for (i = 0; i < s->nr; i++)
		kbl_fake(f, s->offset[i], i ? more[i - 1] : first);
}
NOKPROBE_SYMBOL(kbl_fake_all);

static __always_inline void kbl_source_entered(struct kbl_site *site, unsigned long caller,
					       unsigned long frame, const void *first,
					       const void *const *more, bool pv)
{
	const struct kbl_armed_site *s = READ_ONCE(site->data);
	struct kbl_fake_regs f KBL_NOT_CLEARED;
	struct kbl_ticket ticket;
	struct kbl_open *open;
	struct kbl_target *t;
	u64 key;

	if (unlikely(!s))
		return;
	t = s->target;
	if (IS_ENABLED(CONFIG_RETHOOK) && unlikely(caller == kbl_hooked))
		caller = kbl_unhooked_entry(caller);
	if (likely(s->plain))
		kbl_fake(&f, t->plain, s->plain == 1 ? first : more[s->plain - 2]);
	else
		kbl_fake_all(&f, s, first, more);
	kbl_arch_fake(&f.regs, f.stack, caller);
	/* Recording may be switched on or off meanwhile: either outcome is fine for this call. */
	if (unlikely(!data_race(kbl_active)))
		return;
	if (unlikely(kbl_enter_as(t, &f.regs, kbl_irq_off(pv), caller, false, pv, &ticket)))
		return;
	if (unlikely(ticket.call == &kbl_unpaired)) {
		kbl_open_unpaired(t);
		return;
	}
	key = kbl_open_key(t, frame);
	open = kbl_open_claim(kbl_open_set(key), key);
	if (likely(open))
		open->call = ticket.call;
	else
		kbl_open_lose(ticket.call);
}

static __always_inline void kbl_source_left(struct kbl_site *site, unsigned long frame,
					    unsigned long value, bool pv)
{
	const struct kbl_armed_site *s = READ_ONCE(site->data);
	struct pt_regs regs KBL_NOT_CLEARED;
	struct kbl_ticket ticket;
	struct kbl_open *open;
	u64 key;

	if (unlikely(!s))
		return;
	key = kbl_open_key(s->target, frame);
	open = kbl_open_find(kbl_open_set(key), key);
	/* The entry was not recorded, or preceded the arming of the site. */
	if (!open)
		return;
	ticket.call = open->call;
	WRITE_ONCE(open->key, 0);
	kbl_arch_fake_return(&regs, value);
	kbl_leave(&ticket, &regs, kbl_irq_off(pv), pv);
}

#endif /* KBL_ARMED_SITE_H */
