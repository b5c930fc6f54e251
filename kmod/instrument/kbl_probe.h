/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes compiled into a kernel.  "skbscan instrument" inserts code that uses these macros;
 * docs/instrumentation.md says what they must do.  The option --runtime puts this file into
 * include/linux/.
 */
#ifndef _LINUX_KBL_PROBE_H
#define _LINUX_KBL_PROBE_H

#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>

struct list_head;
struct module;
struct sk_buff;
struct sk_buff_head;
struct sock;

/* After a loop without a body, a return that became a block would look like the body. */
#pragma GCC diagnostic ignored "-Wmisleading-indentation"

#define KBL_SITE_MAGIC 0x4b424c31	/* identifies static keys that are sites */
#define KBL_SITE_CARRIERS 4

/* The kind of a carrier; the numbers are enum kbl_carrier of the recorder's kbl.h. */
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
	u32 id;				/* id in the manifest */
	u16 carriers;			/* enum kbl_site_carrier, 4 bits each, the first lowest */
	bool scope;			/* the exit passes no value */
	bool copied;			/* some of its copies are inlined elsewhere */
	const char *name;
	struct module *owner;		/* NULL: the kernel itself */
	struct jump_entry *labels;	/* jump labels of the first copy */
	struct jump_entry *labels_end;
	unsigned long start;		/* start of its own code; copies elsewhere are inlined */
	unsigned long size;
	void *data;			/* data of the recorder */
};

/*
 * The functions of a recorder, called in any context with preemption off.  @frame is the same
 * at the entry and at the exit of one call of the site; no other open call of the site has the
 * same.
 */
struct kbl_probe_ops {
	/* @first and the three of @more are its carriers; unused ones may be anything. */
	void (*enter)(struct kbl_site *site, unsigned long caller, unsigned long frame,
		      const void *first, const void *const *more);
	void (*leave)(struct kbl_site *site, unsigned long frame, unsigned long value);
	/* The site's module is being unloaded and the site is disabled; under kbl_sites_lock(). */
	void (*gone)(struct kbl_site *site);
};

void kbl_probe_open(struct kbl_site *site, unsigned long frame, unsigned long caller,
		    const void *a, const void *b, const void *c, const void *d);
unsigned long kbl_probe_close(struct kbl_site *site, unsigned long frame, unsigned long value);
void kbl_probe_entered(struct kbl_site *site, const unsigned long *frame, const void *first,
		       const u8 *stub, const void *const *more);
void kbl_probe_entry_thunk(void);
void kbl_probe_exit_thunk(void);

int kbl_probe_attach(const struct kbl_probe_ops *ops);
void kbl_probe_detach(const struct kbl_probe_ops *ops);
void kbl_sites_lock(void);
void kbl_sites_unlock(void);
struct kbl_site **kbl_sites(unsigned int *nr);
struct kbl_site **kbl_sites_named(const char *name, unsigned int *nr);
unsigned long kbl_site_address(const struct kbl_site *site);
const char *kbl_site_module(const struct kbl_site *site);
void kbl_site_enable(struct kbl_site *site);

/* The exits of calls that are open are not reported. */
static inline void kbl_site_disable(struct kbl_site *site)
{
	static_branch_disable(&site->key);
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

/* In a data section, but away from hot data; kbl_probe.c explains how sites are found. */
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

/* The end of the caller's frame: a constant distance from the stack pointer, so it is free. */
#define KBL_FRAME ((unsigned long *)__builtin_dwarf_cfa())

#if defined(CONFIG_X86_64) && !defined(CONFIG_FRAME_POINTER) && !defined(CONFIG_UML)

/*
 * An idle function executes only one NOP at its entry and one at each exit.  To the compiler
 * each is one instruction that calls nothing, so it inlines, spills and aligns as without them.
 * The stubs are in a section that may refer to .init.text, since the function may be inlined
 * into that.  The operands are fetched before anything is pushed, or are in registers.
 */
#define KBL_STUB(code) \
	"1:\t.byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n" \
	"2:\n" \
	"\t.pushsection .ref.text, \"ax\"\n" \
	"3:\tlea %[frame], %%r11\n" \
	"\tmov %[site], %%r10\n" \
	code \
	"\t.byte 0xe9\n" \
	"\t.long 2b - . - 4\n" \
	"\t.popsection\n" \
	"\t.pushsection __jump_table, \"aw\"\n" \
	"\t.balign 8\n" \
	"\t.long 1b - ., 3b - .\n" \
	"\t.quad %c[site] - .\n" \
	"\t.popsection\n"

#define KBL_COUNT(...) KBL_COUNT_OF(0, ##__VA_ARGS__, 4, 3, 2, 1, 0)
#define KBL_COUNT_OF(zero, a, b, c, d, n, ...) n

#define KBL_ENTERED_FOUR(at, n, a, b, c, d, ...) \
	do { \
		if ((n) < 2) \
			asm_inline volatile(KBL_STUB("\tmov %[one], %%rax\n" \
						     "\tcall kbl_probe_entry_thunk\n") \
				: : [site] "i" (at), [frame] "m" (KBL_FRAME[-1]), \
				[one] "g" ((const void *)(a)) \
				: "rax", "r10", "r11", "cc", "memory"); \
		else \
			asm_inline volatile(KBL_STUB("\tmov %[one], %%rax\n" \
						     "\tpush %[four]\n" \
						     "\tpush %[three]\n" \
						     "\tpush %[two]\n" \
						     "\tcall kbl_probe_entry_thunk\n" \
						     "\tadd $24, %%rsp\n") \
				: : [site] "i" (at), [frame] "m" (KBL_FRAME[-1]), \
				[one] "g" ((const void *)(a)), [two] "ri" ((const void *)(b)), \
				[three] "ri" ((const void *)(c)), [four] "ri" ((const void *)(d)) \
				: "rax", "r10", "r11", "cc", "memory"); \
	} while (0)

/* @fetch moves the value into rcx. */
#define KBL_LEFT_BY(at, fetch, value) \
	asm_inline volatile(KBL_STUB("\t" fetch "\n" \
				     "\tcall kbl_probe_exit_thunk\n") \
		: : [site] "i" (at), [frame] "m" (KBL_FRAME[-1]), [result] "r" (value) \
		: "rcx", "r10", "r11", "cc", "memory")

#define KBL_LEFT(at) \
	asm_inline volatile(KBL_STUB("\txor %%ecx, %%ecx\n" \
				     "\tcall kbl_probe_exit_thunk\n") \
		: : [site] "i" (at), [frame] "m" (KBL_FRAME[-1]) \
		: "rcx", "r10", "r11", "cc", "memory")

#define KBL_LEFT_VALUE(at, value) \
	do { \
		switch (sizeof(value)) { \
		case 1: \
			KBL_LEFT_BY(at, "movzbl %b[result], %%ecx", value); \
			break; \
		case 2: \
			KBL_LEFT_BY(at, "movzwl %w[result], %%ecx", value); \
			break; \
		case 4: \
			KBL_LEFT_BY(at, "movslq %k[result], %%rcx", value); \
			break; \
		case 8: \
			KBL_LEFT_BY(at, "mov %q[result], %%rcx", value); \
			break; \
		default: \
			KBL_LEFT(at); \
		} \
	} while (0)

#else

#define KBL_COUNT(...) 4

#define KBL_ENTERED_FOUR(at, n, a, b, c, d, ...) \
	do { \
		if (static_branch_unlikely(&(at)->key)) \
			kbl_probe_open(at, (unsigned long)KBL_FRAME, \
				       (unsigned long)__builtin_return_address(0), a, b, c, d); \
	} while (0)

#define KBL_LEFT(at) \
	do { \
		if (static_branch_unlikely(&(at)->key)) \
			kbl_probe_close(at, (unsigned long)KBL_FRAME, 0); \
	} while (0)

/* The stub returns the value, so that it need not be kept over the call. */
#define KBL_LEFT_VALUE(at, value) \
	do { \
		if (static_branch_unlikely(&(at)->key)) { \
			unsigned long kbl_back = \
				kbl_probe_close(at, (unsigned long)KBL_FRAME, \
						(unsigned long)(value)); \
			if (sizeof(value) <= sizeof(kbl_back)) \
				(value) = (__typeof__(value))kbl_back; \
		} \
	} while (0)

#endif

#define KBL_ENTERED(at, ...) \
	KBL_ENTERED_FOUR(at, KBL_COUNT(__VA_ARGS__), ##__VA_ARGS__, NULL, NULL, NULL, NULL)

static __always_inline void kbl_scope_end(struct kbl_site **site)
{
	KBL_LEFT(*site);
}

#define KBL_ENTER(id, ...) \
	KBL_SITE(id, false, ##__VA_ARGS__); \
	bool kbl_entered __maybe_unused = ({ KBL_ENTERED(&kbl_site, ##__VA_ARGS__); true; })

#define KBL_ENTER_SCOPE(id, ...) \
	KBL_SITE(id, true, ##__VA_ARGS__); \
	struct kbl_site *kbl_scope __maybe_unused __attribute__((cleanup(kbl_scope_end))) = \
		({ KBL_ENTERED(&kbl_site, ##__VA_ARGS__); &kbl_site; })

/* The comma removes the qualifiers of a typedef: kbl_ret is assigned later. */
#define KBL_RESULT(type) __typeof__(((void)0, *(type *)0)) kbl_ret __maybe_unused

#define KBL_LEAVE(id) KBL_LEFT(&kbl_site)
#define KBL_LEAVE_VALUE(id, value) KBL_LEFT_VALUE(&kbl_site, value)

#define KBL_VOID (void)
#define KBL_NOTHING (void)0

#endif
