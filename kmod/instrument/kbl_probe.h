/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes compiled into a kernel.  What "skbscan instrument" inserts uses these macros;
 * docs/instrumentation.md tells what they must do.  Its option --runtime puts this file into
 * include/linux/.
 */
#ifndef _LINUX_KBL_PROBE_H
#define _LINUX_KBL_PROBE_H

#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>

struct list_head;
struct sk_buff;
struct sk_buff_head;
struct sock;

#define KBL_SITE_MAGIC 0x4b424c31	/* tells the key of a site from any other static key */
#define KBL_SITE_CARRIERS 4

/* What a carrier is; the numbers are enum kbl_carrier of the recorder's kbl.h. */
enum kbl_site_carrier {
	KBL_SITE_NONE = 0,
	KBL_SITE_SKB = 1,
	KBL_SITE_SKBP = 2,
	KBL_SITE_LIST = 3,
	KBL_SITE_QUEUE = 4,
	KBL_SITE_SOCK = 5
};

/* A function with probes. */
struct kbl_site {
	struct static_key_false key;	/* a NOP until kbl_site_enable() */
	u32 magic;
	u32 id;				/* that of the manifest */
	u16 carriers;			/* enum kbl_site_carrier, 4 bits each, the first lowest */
	bool scope;			/* the exit is told without a value */
	const char *name;
	struct jump_entry *labels;	/* the first of its copies */
	unsigned long start;		/* of its own code; copies elsewhere are inlined */
	unsigned long size;
	u64 stamp;			/* of the time that it is enabled, 40 bits; 0: it is not */
	void *data;			/* the recorder's */
};

/* What a recorder does; called in any context, without preemption.  Unused carriers are NULL. */
struct kbl_probe_ops {
	/* NULL: the exit is not to be told. */
	void *(*enter)(struct kbl_site *site, unsigned long caller, const void *a, const void *b,
		       const void *c, const void *d);
	/* The token may be anything but one of this site since it was enabled: see its stamp. */
	void (*leave)(struct kbl_site *site, void *token, unsigned long value);
};

void *kbl_probe_open(struct kbl_site *site, unsigned long caller, const void *a, const void *b,
		     const void *c, const void *d);
unsigned long kbl_probe_close(struct kbl_site *site, void *token, unsigned long value);

int kbl_probe_attach(const struct kbl_probe_ops *ops);
void kbl_probe_detach(const struct kbl_probe_ops *ops);
struct kbl_site **kbl_sites(unsigned int *nr);
struct kbl_site **kbl_sites_named(const char *name, unsigned int *nr);
struct kbl_site *kbl_site_of(unsigned int id);
unsigned long kbl_site_address(const struct kbl_site *site);
void kbl_site_enable(struct kbl_site *site);
void kbl_site_disable(struct kbl_site *site);

/* A pointer seen at the entry is told again at the exit, never followed. */
struct kbl_scope {
	struct kbl_site *site;
	void *token;
};

static __always_inline void kbl_scope_end(struct kbl_scope *scope)
{
	if (unlikely(scope->token))
		kbl_probe_close(scope->site, scope->token, 0);
}

/* Is it a pointer to this, or to a const one? */
#define KBL_IS(carrier, type) \
	(__builtin_types_compatible_p(__typeof__(carrier), type) || \
	 __builtin_types_compatible_p(__typeof__(carrier), const type))
#define KBL_CARRIER(carrier) \
	(KBL_IS(carrier, struct sk_buff *) ? KBL_SITE_SKB : \
	 KBL_IS(carrier, struct sk_buff **) ? KBL_SITE_SKBP : \
	 KBL_IS(carrier, struct list_head *) ? KBL_SITE_LIST : \
	 KBL_IS(carrier, struct sk_buff_head *) ? KBL_SITE_QUEUE : \
	 KBL_IS(carrier, struct sock *) ? KBL_SITE_SOCK : KBL_SITE_NONE)

/* Among the other data, but apart from what is used often; see kbl_probe.c how they are found. */
#define KBL_SITE(number, scoped, ...) \
	KBL_SITE_FOUR(number, scoped, ##__VA_ARGS__, NULL, NULL, NULL, NULL)
#define KBL_SITE_FOUR(number, scoped, a, b, c, d, ...) \
	static struct kbl_site kbl_site __section(".data.unlikely") = { \
		.key = STATIC_KEY_FALSE_INIT, \
		.magic = KBL_SITE_MAGIC, \
		.id = (number), \
		.carriers = KBL_CARRIER(a) | KBL_CARRIER(b) << 4 | KBL_CARRIER(c) << 8 | \
			    KBL_CARRIER(d) << 12, \
		.scope = (scoped), \
		.name = __func__, \
	}

/* No array and no address of a local: they would cost a stack canary in every function. */
#define KBL_OPEN(...) KBL_OPEN_FOUR(0, ##__VA_ARGS__, NULL, NULL, NULL, NULL)
#define KBL_OPEN_FOUR(zero, a, b, c, d, ...) \
	kbl_probe_open(&kbl_site, (unsigned long)__builtin_return_address(0), a, b, c, d)

/* Kernels may clear what lies on the stack. */
#if __has_attribute(__uninitialized__)
#define KBL_UNSET __attribute__((__uninitialized__))
#else
#define KBL_UNSET
#endif

/*
 * An idle function does nothing but run over two NOPs: the token has a place on the stack, but
 * not in a register, and it is not set.  What a call in flight finds there when its site is
 * enabled before its exit is older than the site's stamp, which each token holds.
 */
#define KBL_ENTER(id, ...) \
	KBL_SITE(id, false, ##__VA_ARGS__); \
	void *volatile kbl_token __maybe_unused KBL_UNSET; \
	bool kbl_told __maybe_unused = static_branch_unlikely(&kbl_site.key) && \
				       (kbl_token = KBL_OPEN(__VA_ARGS__), true)

#define KBL_ENTER_SCOPE(id, ...) \
	KBL_SITE(id, true, ##__VA_ARGS__); \
	struct kbl_scope kbl_scope __maybe_unused __attribute__((cleanup(kbl_scope_end))) = { \
		&kbl_site, \
		static_branch_unlikely(&kbl_site.key) ? KBL_OPEN(__VA_ARGS__) : NULL \
	}

#define KBL_RESULT(type) type kbl_ret __maybe_unused

#define KBL_LEAVE(id) \
	do { \
		if (static_branch_unlikely(&kbl_site.key)) \
			kbl_probe_close(&kbl_site, kbl_token, 0); \
	} while (0)

/* The value comes back, so that it need not be kept over the call. */
#define KBL_LEAVE_VALUE(id, value) \
	do { \
		if (static_branch_unlikely(&kbl_site.key)) { \
			unsigned long kbl_back = kbl_probe_close(&kbl_site, kbl_token, \
								 (unsigned long)(value)); \
			if (sizeof(value) <= sizeof(kbl_back)) \
				(value) = (__typeof__(value))kbl_back; \
		} \
	} while (0)

#define KBL_VOID (void)
#define KBL_NOTHING (void)0

#endif
