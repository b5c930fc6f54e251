/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes compiled into a kernel: copy to include/linux/.  What "skbscan instrument" inserts uses
 * these macros; docs/instrumentation.md tells what they must do.
 */
#ifndef _LINUX_KBL_PROBE_H
#define _LINUX_KBL_PROBE_H

#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>

/* A function with probes; they lie in one section of the kernel, from __start_kbl_sites on. */
struct kbl_site {
	struct static_key_false key;	/* a NOP until kbl_site_enable() */
	unsigned int id;
	const char *name;
};

/* What an exit has of its entry: a pointer seen then is told again, never followed. */
struct kbl_frame {
	struct kbl_site *site;		/* NULL: the entry was not told */
	void *token;
};

/* What a recorder does; called in any context, without preemption.  Unused carriers are NULL. */
struct kbl_probe_ops {
	void *(*enter)(struct kbl_site *site, unsigned long caller, const void *a, const void *b,
		       const void *c, const void *d);
	void (*leave)(struct kbl_site *site, void *token, bool told, unsigned long value);
};

struct kbl_frame kbl_frame_open(struct kbl_site *site, unsigned long caller, const void *a,
				const void *b, const void *c, const void *d);
void kbl_frame_close(struct kbl_frame frame, bool told, unsigned long value);

int kbl_probe_attach(const struct kbl_probe_ops *ops);
void kbl_probe_detach(const struct kbl_probe_ops *ops);
int kbl_site_enable(unsigned int id);
void kbl_site_disable(unsigned int id);

static __always_inline void kbl_frame_end(struct kbl_frame *frame)
{
	if (unlikely(frame->site))
		kbl_frame_close(*frame, false, 0);
}

#define KBL_SITE(number) \
	static struct kbl_site kbl_site __used __section("kbl_sites") = { \
		.key = STATIC_KEY_FALSE_INIT, \
		.id = (number), \
		.name = __func__, \
	}

/* No array and no address of a local: they would cost a stack canary in every function. */
#define KBL_OPEN(...) KBL_OPEN_FOUR(0, ##__VA_ARGS__, NULL, NULL, NULL, NULL)
#define KBL_OPEN_FOUR(zero, a, b, c, d, ...) \
	(static_branch_unlikely(&kbl_site.key) ? \
	 kbl_frame_open(&kbl_site, (unsigned long)__builtin_return_address(0), a, b, c, d) : \
	 (struct kbl_frame){ NULL, NULL })

#define KBL_ENTER(id, ...) \
	KBL_SITE(id); \
	struct kbl_frame kbl_frame __maybe_unused = KBL_OPEN(__VA_ARGS__)

#define KBL_ENTER_SCOPE(id, ...) \
	KBL_SITE(id); \
	struct kbl_frame kbl_frame __maybe_unused __attribute__((cleanup(kbl_frame_end))) = \
		KBL_OPEN(__VA_ARGS__)

#define KBL_RESULT(type) type kbl_ret __maybe_unused

#define KBL_LEAVE(id) \
	do { \
		if (unlikely(kbl_frame.site)) \
			kbl_frame_close(kbl_frame, false, 0); \
	} while (0)

#define KBL_LEAVE_VALUE(id, value) \
	do { \
		if (unlikely(kbl_frame.site)) \
			kbl_frame_close(kbl_frame, true, (unsigned long)(value)); \
	} while (0)

#define KBL_VOID (void)
#define KBL_NOTHING (void)0

#endif
