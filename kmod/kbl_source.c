// SPDX-License-Identifier: GPL-2.0-only
/*
 * Back end: probes that "skbscan instrument" compiled into the kernel.  They call this module
 * through the runtime in instrument/.  Functions are armed by name: a function that was inlined
 * everywhere has no address, but it has a site.
 *
 * A site passes the carriers of a call and the address of its caller, not the registers.  So
 * each carrier is stored in a fake struct pt_regs, at the place of the argument with its index.
 */
#include <linux/slab.h>

#include "kbl_hot.h"

#if __has_include(<linux/kbl_probe.h>)

#include <linux/kbl_probe.h>

#include "kbl_fake_regs.h"
#include "kbl_open_calls.h"
#include "kbl_armed_site.h"

struct kbl_source {
	unsigned int nr;
	struct kbl_armed_site sited[];
};

static unsigned int kbl_source_armed;

static void kbl_source_enter(struct kbl_site *site, unsigned long caller, unsigned long frame,
			     const void *first, const void *const *more)
{
	kbl_source_entered(site, caller, frame, first, more, false);
}
NOKPROBE_SYMBOL(kbl_source_enter);

static void kbl_source_leave(struct kbl_site *site, unsigned long frame, unsigned long value)
{
	kbl_source_left(site, frame, value, false);
}
NOKPROBE_SYMBOL(kbl_source_leave);

static void kbl_source_pv_enter(struct kbl_site *site, unsigned long caller, unsigned long frame,
				const void *first, const void *const *more)
{
	kbl_source_entered(site, caller, frame, first, more, true);
}
NOKPROBE_SYMBOL(kbl_source_pv_enter);

static void kbl_source_pv_leave(struct kbl_site *site, unsigned long frame, unsigned long value)
{
	kbl_source_left(site, frame, value, true);
}
NOKPROBE_SYMBOL(kbl_source_pv_leave);

/* Measures the cost of the kernel's interface alone. */
static void kbl_source_floor_enter(struct kbl_site *site, unsigned long caller,
				   unsigned long frame, const void *first,
				   const void *const *more)
{
}
NOKPROBE_SYMBOL(kbl_source_floor_enter);

static void kbl_source_floor_leave(struct kbl_site *site, unsigned long frame,
				   unsigned long value)
{
}
NOKPROBE_SYMBOL(kbl_source_floor_leave);

/* The site's module is being unloaded. */
static void kbl_source_gone(struct kbl_site *site)
{
	struct kbl_armed_site *s = site->data;

	s->site = NULL;
	WRITE_ONCE(s->target->error, -ENODEV);
}

static const struct kbl_probe_ops kbl_source_ops = {
	.enter = kbl_source_enter,
	.leave = kbl_source_leave,
	.gone = kbl_source_gone,
};

static const struct kbl_probe_ops kbl_source_pv_ops = {
	.enter = kbl_source_pv_enter,
	.leave = kbl_source_pv_leave,
	.gone = kbl_source_gone,
};

static const struct kbl_probe_ops kbl_source_floor_ops = {
	.enter = kbl_source_floor_enter,
	.leave = kbl_source_floor_leave,
	.gone = kbl_source_gone,
};

static const struct kbl_probe_ops *kbl_source_chosen(void)
{
	if (kbl_floor)
		return &kbl_source_floor_ops;
	return kbl_arch_pv() ? &kbl_source_pv_ops : &kbl_source_ops;
}

/* The site's carriers of one kind; @at gets their indices, in order. */
static unsigned int kbl_site_carriers(const struct kbl_site *site, u8 kind, u8 *at)
{
	unsigned int i, n = 0;

	for (i = 0; i < KBL_SITE_CARRIERS; i++)
		if ((site->carriers >> 4 * i & 15) == kind)
			at[n++] = i;
	return n;
}

/* The number of the target's carriers of that kind that are arguments below @arg. */
static unsigned int kbl_carriers_below(const struct kbl_target *t, u8 kind, unsigned int arg)
{
	unsigned int i, n = 0;

	for (i = 0; i < t->nr_carriers; i++)
		n += t->carrier[i] >> 4 == kind && (t->carrier[i] & 15) < arg;
	return n;
}

/*
 * The site passes its carriers in the order of the arguments; the target knows which arguments
 * they are.  Both must have the same number of carriers of each kind.  If the list omits some,
 * the kind must have only one at the site.
 */
static int kbl_source_map(struct kbl_armed_site *s)
{
	const struct kbl_target *t = s->target;
	unsigned int i, nr, mine;
	u8 at[KBL_SITE_CARRIERS];

	for (i = 0; i < KBL_SITE_CARRIERS; i++) {
		s->offset[i] = offsetof(struct kbl_fake_regs, unused);
		if (s->site->carriers >> 4 * i)
			s->nr = i + 1;
	}
	for (i = 0; i < t->nr_carriers; i++) {
		u8 kind = t->carrier[i] >> 4, arg = t->carrier[i] & 15;

		if (arg == KBL_AT_RET)
			continue;
		nr = kbl_site_carriers(s->site, kind, at);
		mine = kbl_carriers_below(t, kind, KBL_AT_RET);
		if (nr < mine || (nr > mine && nr > 1))
			return -EINVAL;
		s->offset[at[kbl_carriers_below(t, kind, arg)]] = kbl_fake_offset(arg);
	}
	for (i = 0; i < s->nr; i++)
		if (s->offset[i] == t->plain &&
		    (t->one || (t->sock && !t->entry_event && !t->exit_event)))
			s->plain = i + 1;
	return 0;
}

/*
 * False if the target's event needs data that the site does not pass: other arguments, or the
 * return value.
 */
static bool kbl_source_knows(const struct kbl_target *t, const struct kbl_site *site)
{
	switch (t->event) {
	case KBL_EV_DROP:
	case KBL_EV_NF_HOOK:
		return false;
	}
	return !t->exit_event || !site->scope;
}

/* True if the target means this one of several functions with the same name. */
static bool kbl_source_meant(const struct kbl_target *t, const struct kbl_site *site,
			     unsigned int nr)
{
	if (t->module[0] && strcmp(t->module, kbl_site_module(site)))
		return false;
	return nr == 1 || kbl_site_address(site) == t->addr;
}

static int kbl_source_take(struct kbl_target *t, struct kbl_source *source, struct kbl_site *site)
{
	struct kbl_armed_site *s = &source->sited[source->nr];
	int err;

	s->target = t;
	s->site = site;
	err = !kbl_source_knows(t, site) ? -EOPNOTSUPP : site->data ? -EBUSY : kbl_source_map(s);
	source->nr += !err;
	return err;
}

/* Called under kbl_sites_lock(). */
static int kbl_source_arm_one(struct kbl_target *t)
{
	struct kbl_site **sites, *own = t->site;
	struct kbl_source *source;
	unsigned int i, nr = 1;
	int err = -ENOENT;

	sites = own ? &own : kbl_sites_named(t->name, &nr);
	if (!nr)
		return -ENOENT;
	source = kzalloc(struct_size(source, sited, nr), GFP_KERNEL);
	if (!source)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		if (kbl_source_meant(t, sites[i], nr))
			err = kbl_source_take(t, source, sites[i]);
	if (!source->nr) {
		kfree(source);
		return err;
	}
	t->probe = source;
	/*
	 * Entries are recorded only after the probes of all exits are in place, so no key
	 * remains.
	 */
	for (i = 0; i < source->nr; i++) {
		kbl_site_enable(source->sited[i].site);
		/* Pairs with the dependency in kbl_source_enter(). */
		smp_store_release(&source->sited[i].site->data, &source->sited[i]);
	}
	return 0;
}

static void kbl_source_end(void)
{
	kbl_probe_detach(kbl_source_chosen());
	kbl_open_end();
}

static int kbl_source_begin(void)
{
	return kbl_open_begin() ?: kbl_probe_attach(kbl_source_chosen());
}

static void kbl_source_arm(struct kbl_target **targets, unsigned int nr)
{
	bool first = !kbl_source_armed;
	unsigned int i;
	int err = 0;

	if (first)
		err = kbl_source_begin();
	for (i = 0; i < nr; i++) {
		struct kbl_target *t = targets[i];

		kbl_sites_lock();
		t->error = err ?: kbl_source_arm_one(t);
		kbl_sites_unlock();
		if (!t->error) {
			t->mechanism = t->was = KBL_BY_SOURCE;
			t->trap = false;
			__set_bit(t->id, kbl_open_armed);
			kbl_source_armed++;
		}
		cond_resched();
	}
	if (first && !kbl_source_armed)
		kbl_source_end();
}

static void kbl_source_disable(struct kbl_target *t)
{
	struct kbl_source *source = t->probe;
	unsigned int i;

	kbl_sites_lock();
	for (i = 0; i < source->nr; i++) {
		struct kbl_site *site = source->sited[i].site;

		if (!site)
			continue;
		kbl_site_disable(site);
		WRITE_ONCE(site->data, NULL);
	}
	kbl_sites_unlock();
	t->mechanism = 0;
	__clear_bit(t->id, kbl_open_armed);
	kbl_source_armed--;
}

/* The returns of open calls are not recorded; at the end these calls count as open. */
static void kbl_source_disarm(struct kbl_target **targets, unsigned int nr)
{
	unsigned int i, before = kbl_source_armed;

	for (i = 0; i < nr; i++)
		if (targets[i]->mechanism == KBL_BY_SOURCE)
			kbl_source_disable(targets[i]);
	if (before == kbl_source_armed)
		return;
	synchronize_rcu();
	if (kbl_source_armed)
		kbl_open_forget();
	else
		kbl_source_end();
	for (i = 0; i < nr; i++)
		if (targets[i]->was == KBL_BY_SOURCE && !targets[i]->mechanism) {
			kfree(targets[i]->probe);
			targets[i]->probe = NULL;
		}
}

static u64 kbl_source_missed(const struct kbl_target *t)
{
	return 0;
}

/* The address of a function without symbol, 0 = the kernel has no site of that name. */
unsigned long kbl_source_address(const char *name)
{
	struct kbl_site **sites;
	unsigned long address;
	unsigned int nr;

	kbl_sites_lock();
	sites = kbl_sites_named(name, &nr);
	address = nr ? kbl_site_address(sites[0]) : 0;
	kbl_sites_unlock();
	return address;
}

/* Show "0xADDR NAME [MODULE]" for each function that has a site. */
void kbl_source_show(struct seq_file *m)
{
	struct kbl_site **sites;
	unsigned int i, nr;

	kbl_sites_lock();
	sites = kbl_sites(&nr);
	for (i = 0; i < nr; i++)
		seq_printf(m, "0x%lx %s%s%s\n", kbl_site_address(sites[i]), sites[i]->name,
			   sites[i]->owner ? " " : "", kbl_site_module(sites[i]));
	kbl_sites_unlock();
}

const struct kbl_backend kbl_source_backend = {
	.name = "source",
	.mechanism = KBL_BY_SOURCE,
	.arm = kbl_source_arm,
	.disarm = kbl_source_disarm,
	.missed = kbl_source_missed,
};

#else

void kbl_source_show(struct seq_file *m)
{
}

unsigned long kbl_source_address(const char *name)
{
	return 0;
}

const struct kbl_backend kbl_source_backend = {
	.name = "source",
};

#endif
