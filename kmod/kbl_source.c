// SPDX-License-Identifier: GPL-2.0-only
/*
 * Back end: probes compiled into the kernel by "skbscan instrument", which call
 * us through the runtime of instrument/.  Functions are armed by name; one that
 * was inlined everywhere has no address, but it has a site.
 *
 * A site passes the packets of a call and its caller, not the registers: what a
 * probe list calls argument n is put where argument n would be.
 */
#include <linux/slab.h>

#include "kbl_hot.h"

#if __has_include(<linux/kbl_probe.h>)

#include <linux/kbl_probe.h>

#define KBL_STACK_WORDS 12	/* the return address and the arguments on the stack */

/* A call as the registers would show it. */
struct kbl_faked {
	struct pt_regs regs;
	unsigned long stack[KBL_STACK_WORDS];
	unsigned long unused;
};

/* A site that is armed, and where its carriers go. */
struct kbl_sited {
	struct kbl_target *target;
	bool plain;		/* the first carrier is the one skb that is read */
	u16 offset[KBL_SITE_CARRIERS];	/* in struct kbl_faked */
	struct kbl_site *site;
};

struct kbl_source {
	unsigned int nr;
	struct kbl_sited sited[];
};

/*
 * What a site keeps between entry and exit: its stamp, the CPU and the place in
 * that CPU's table.  Not an address: the function may return when all of that is
 * gone, and one entered before its site was enabled returns with anything here.
 */
#define KBL_TOKEN_CPU_SHIFT 8
#define KBL_TOKEN_STAMP_SHIFT 24

static unsigned int kbl_source_armed;

static __always_inline void *kbl_source_token(const struct kbl_site *site,
					      const struct kbl_call *call)
{
	u64 place = call - call->owner->calls;

	BUILD_BUG_ON(KBL_NR_CALLS > 1 << KBL_TOKEN_CPU_SHIFT);
	BUILD_BUG_ON(NR_CPUS > 1 << (KBL_TOKEN_STAMP_SHIFT - KBL_TOKEN_CPU_SHIFT));
	return (void *)(unsigned long)(site->stamp << KBL_TOKEN_STAMP_SHIFT |
				       (u64)raw_smp_processor_id() << KBL_TOKEN_CPU_SHIFT | place);
}

static __always_inline void kbl_fake(struct kbl_faked *f, unsigned int offset, const void *value)
{
	*(unsigned long *)((u8 *)f + offset) = (unsigned long)value;
}

static void *kbl_source_enter(struct kbl_site *site, unsigned long caller, const void *a,
			      const void *b, const void *c, const void *d)
{
	const struct kbl_sited *s = READ_ONCE(site->data);
	struct kbl_faked f KBL_NOT_CLEARED;
	struct kbl_target *t;
	unsigned long token;
	unsigned int i;

	if (unlikely(!s))
		return NULL;
	t = s->target;
	kbl_arch_fake(&f.regs, f.stack, caller);
	if (likely(s->plain)) {
		kbl_fake(&f, t->plain, a);
	} else {
		for (i = 0; i < KBL_REG_ARGS; i++)
			kbl_fake(&f, kbl_arg_offset(i), NULL);
		kbl_fake(&f, s->offset[0], a);
		kbl_fake(&f, s->offset[1], b);
		kbl_fake(&f, s->offset[2], c);
		kbl_fake(&f, s->offset[3], d);
	}
	token = kbl_enter(t, &f.regs, false);
	/* Too many calls are open: the entry is told, and counted as unpaired. */
	if (unlikely(!token || token & KBL_UNPAIRED))
		return NULL;
	return kbl_source_token(site, (const struct kbl_call *)token);
}
NOKPROBE_SYMBOL(kbl_source_enter);

static void kbl_source_leave(struct kbl_site *site, void *token, unsigned long value)
{
	u64 word = (unsigned long)token;
	struct kbl_call *call;
	struct pt_regs regs KBL_NOT_CLEARED;
	unsigned int cpu;

	/* Not to be told, or entered before the site was enabled. */
	if (unlikely(!word || word >> KBL_TOKEN_STAMP_SHIFT != READ_ONCE(site->stamp)))
		return;
	cpu = word >> KBL_TOKEN_CPU_SHIFT & (BIT(KBL_TOKEN_STAMP_SHIFT - KBL_TOKEN_CPU_SHIFT) - 1);
	call = &per_cpu_ptr(kbl_cpus, cpu)->calls[word & (KBL_NR_CALLS - 1)];
	kbl_arch_fake_return(&regs, value);
	kbl_leave(call->target, (unsigned long)call, &regs);
}
NOKPROBE_SYMBOL(kbl_source_leave);

/* What the interface costs by itself, for measurements. */
static void *kbl_source_floor_enter(struct kbl_site *site, unsigned long caller, const void *a,
				    const void *b, const void *c, const void *d)
{
	return NULL;
}
NOKPROBE_SYMBOL(kbl_source_floor_enter);

static void kbl_source_floor_leave(struct kbl_site *site, void *token, unsigned long value)
{
}
NOKPROBE_SYMBOL(kbl_source_floor_leave);

static const struct kbl_probe_ops kbl_source_ops = {
	.enter = kbl_source_enter,
	.leave = kbl_source_leave,
};

static const struct kbl_probe_ops kbl_source_floor_ops = {
	.enter = kbl_source_floor_enter,
	.leave = kbl_source_floor_leave,
};

static const struct kbl_probe_ops *kbl_source_chosen(void)
{
	return kbl_floor ? &kbl_source_floor_ops : &kbl_source_ops;
}

/* Those of the site's carriers that are of one kind; @at: which of them come, in this order. */
static unsigned int kbl_site_carriers(const struct kbl_site *site, u8 kind, u8 *at)
{
	unsigned int i, n = 0;

	for (i = 0; i < KBL_SITE_CARRIERS; i++)
		if ((site->carriers >> 4 * i & 15) == kind)
			at[n++] = i;
	return n;
}

static u16 kbl_faked_offset(unsigned int arg)
{
	if (arg < KBL_REG_ARGS)
		return kbl_arg_offset(arg);
	return offsetof(struct kbl_faked, stack) +
	       kbl_arch_stack_offset(arg - KBL_REG_ARGS);
}

/* How many of the target's carriers of that kind are arguments below @arg. */
static unsigned int kbl_carriers_below(const struct kbl_target *t, u8 kind, unsigned int arg)
{
	unsigned int i, n = 0;

	for (i = 0; i < t->nr_carriers; i++)
		n += t->carrier[i] >> 4 == kind && (t->carrier[i] & 15) < arg;
	return n;
}

/*
 * The site passes its carriers in the order of the arguments, the target says which
 * arguments they are.  Of each kind both must know equally many, or, where the list
 * leaves some out, only one can be meant.
 */
static int kbl_source_map(struct kbl_sited *s)
{
	const struct kbl_target *t = s->target;
	unsigned int i, nr, mine;
	u8 at[KBL_SITE_CARRIERS];

	for (i = 0; i < KBL_SITE_CARRIERS; i++)
		s->offset[i] = offsetof(struct kbl_faked, unused);
	for (i = 0; i < t->nr_carriers; i++) {
		u8 kind = t->carrier[i] >> 4, arg = t->carrier[i] & 15;

		if (arg == KBL_AT_RET)
			continue;
		nr = kbl_site_carriers(s->site, kind, at);
		mine = kbl_carriers_below(t, kind, KBL_AT_RET);
		if (nr < mine || (nr > mine && nr > 1))
			return -EINVAL;
		s->offset[at[kbl_carriers_below(t, kind, arg)]] = kbl_faked_offset(arg);
	}
	s->plain = t->one && s->offset[0] == t->plain;
	return 0;
}

/* What such an event tells is in arguments that no site passes, or in a value it does not tell. */
static bool kbl_source_knows(const struct kbl_target *t, const struct kbl_site *site)
{
	switch (t->event) {
	case KBL_EV_DROP:
	case KBL_EV_NF_HOOK:
		return false;
	}
	return !t->exit_event || !site->scope;
}

static int kbl_source_arm_one(struct kbl_target *t)
{
	struct kbl_site **sites, *own = t->site;
	struct kbl_source *source;
	unsigned int i, nr = 1;
	int err = -ENOENT;

	sites = own ? &own : kbl_sites_named(t->name, &nr);
	if (!nr || t->module[0])
		return -ENOENT;
	source = kzalloc(struct_size(source, sited, nr), GFP_KERNEL);
	if (!source)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		struct kbl_sited *s = &source->sited[source->nr];

		/* Of several functions of that name, the one that is meant. */
		if (nr > 1 && kbl_site_address(sites[i]) != t->addr)
			continue;
		s->target = t;
		s->site = sites[i];
		err = !kbl_source_knows(t, s->site) ? -EOPNOTSUPP :
		      s->site->data ? -EBUSY : kbl_source_map(s);
		if (err)
			continue;
		/* Pairs with the dependency in kbl_source_enter(). */
		smp_store_release(&s->site->data, s);
		source->nr++;
	}
	if (!source->nr) {
		kfree(source);
		return err;
	}
	t->probe = source;
	for (i = 0; i < source->nr; i++)
		kbl_site_enable(source->sited[i].site);
	return 0;
}

static void kbl_source_arm(struct kbl_target **targets, unsigned int nr)
{
	bool first = !kbl_source_armed;
	unsigned int i;
	int err = 0;

	if (first)
		err = kbl_probe_attach(kbl_source_chosen());
	for (i = 0; i < nr; i++) {
		struct kbl_target *t = targets[i];

		t->error = err ?: kbl_source_arm_one(t);
		if (!t->error) {
			t->mechanism = t->was = KBL_BY_SOURCE;
			t->trap = false;
			kbl_source_armed++;
		}
		cond_resched();
	}
	if (first && !err && !kbl_source_armed)
		kbl_probe_detach(kbl_source_chosen());
}

static void kbl_source_disable(struct kbl_target *t)
{
	struct kbl_source *source = t->probe;
	unsigned int i;

	for (i = 0; i < source->nr; i++) {
		kbl_site_disable(source->sited[i].site);
		WRITE_ONCE(source->sited[i].site->data, NULL);
	}
	t->mechanism = 0;
	kbl_source_armed--;
}

/* Calls that return later are not told; at the end they count as open. */
static void kbl_source_disarm(struct kbl_target **targets, unsigned int nr)
{
	unsigned int i, before = kbl_source_armed;

	for (i = 0; i < nr; i++)
		if (targets[i]->mechanism == KBL_BY_SOURCE)
			kbl_source_disable(targets[i]);
	if (before == kbl_source_armed)
		return;
	if (!kbl_source_armed)
		kbl_probe_detach(kbl_source_chosen());
	synchronize_rcu();
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

/* Where a function is that has no symbol, 0 = the kernel has no site of that name. */
unsigned long kbl_source_address(const char *name)
{
	unsigned int nr;
	struct kbl_site **sites = kbl_sites_named(name, &nr);

	return nr ? kbl_site_address(sites[0]) : 0;
}

/* "0xADDR NAME" of each function that has a site. */
void kbl_source_show(struct seq_file *m)
{
	struct kbl_site **sites;
	unsigned int i, nr;

	sites = kbl_sites(&nr);
	for (i = 0; i < nr; i++)
		seq_printf(m, "0x%lx %s\n", kbl_site_address(sites[i]), sites[i]->name);
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
