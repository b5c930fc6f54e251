// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who freed an skb: the call stack at a drop, the netfilter hook in which the drop happened, and
 * the true return address where a return hook replaced it.  All work is bounded and needs no
 * lock.
 */
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/netfilter.h>
#include <linux/netfilter_arp.h>
#include <linux/stacktrace.h>
#include <linux/version.h>
#ifdef CONFIG_RETHOOK
#include <linux/rethook.h>
#endif

#include "kbl_arch.h"
#include "kbl_stack.h"

#define KBL_HOOKED 0x8000	/* in kbl_ext_drop.hook: there is a hook */
#define KBL_HOOK_NONE 0xffff	/* in the cache: the caller is not a known caller of a hook */
#define KBL_NOTES 16		/* packets inside netfilter on one CPU; a power of two */
#define KBL_CALLER_BITS 5
#define KBL_ABOVE_WORDS 32	/* words searched from a handler's frame to its caller's caller */
#define KBL_ABOVE_SITES 8

/* The text of one function. */
struct kbl_text {
	unsigned long from;
	unsigned long to;
};

static struct kbl_text kbl_freers[4];
static struct kbl_text kbl_hookers[2];

/* The return address of a probed function while it runs. */
static unsigned long kbl_trampoline;

/* Functions that call netfilter, where netfilter itself drops packets. */
static const struct {
	const char *name;
	u8 hook;
	u8 pf;
} kbl_hook_callers[] = {
	{ "ip_rcv", NF_INET_PRE_ROUTING, NFPROTO_IPV4 },
	{ "ip_list_rcv", NF_INET_PRE_ROUTING, NFPROTO_IPV4 },
	{ "ip_sublist_rcv", NF_INET_PRE_ROUTING, NFPROTO_IPV4 },
	{ "ip_local_deliver", NF_INET_LOCAL_IN, NFPROTO_IPV4 },
	{ "ip_forward", NF_INET_FORWARD, NFPROTO_IPV4 },
	{ "__ip_local_out", NF_INET_LOCAL_OUT, NFPROTO_IPV4 },
	{ "raw_sendmsg", NF_INET_LOCAL_OUT, NFPROTO_IPV4 },
	{ "raw_send_hdrinc", NF_INET_LOCAL_OUT, NFPROTO_IPV4 },
	{ "ip_output", NF_INET_POST_ROUTING, NFPROTO_IPV4 },
	{ "ip_mc_output", NF_INET_POST_ROUTING, NFPROTO_IPV4 },
	{ "ipv6_rcv", NF_INET_PRE_ROUTING, NFPROTO_IPV6 },
	{ "ipv6_list_rcv", NF_INET_PRE_ROUTING, NFPROTO_IPV6 },
	{ "ip6_sublist_rcv", NF_INET_PRE_ROUTING, NFPROTO_IPV6 },
	{ "ip6_input", NF_INET_LOCAL_IN, NFPROTO_IPV6 },
	{ "ip6_forward", NF_INET_FORWARD, NFPROTO_IPV6 },
	{ "__ip6_local_out", NF_INET_LOCAL_OUT, NFPROTO_IPV6 },
	{ "ip6_xmit", NF_INET_LOCAL_OUT, NFPROTO_IPV6 },
	{ "ndisc_send_skb", NF_INET_LOCAL_OUT, NFPROTO_IPV6 },
	{ "mld_sendpack", NF_INET_LOCAL_OUT, NFPROTO_IPV6 },
	{ "igmp6_send", NF_INET_LOCAL_OUT, NFPROTO_IPV6 },
	{ "rawv6_sendmsg", NF_INET_LOCAL_OUT, NFPROTO_IPV6 },
	{ "rawv6_send_hdrinc", NF_INET_LOCAL_OUT, NFPROTO_IPV6 },
	{ "ip6_output", NF_INET_POST_ROUTING, NFPROTO_IPV6 },
	{ "arp_rcv", NF_ARP_IN, NFPROTO_ARP },
	{ "arp_xmit", NF_ARP_OUT, NFPROTO_ARP },
};

/* Cache of return addresses: address << 16 | hook.  Only 48 bits of an address are kept. */
static u64 kbl_callers[1 << KBL_CALLER_BITS];

/* The hook that a packet entered last, as a probe of nf_hook_slow() saw it. */
struct kbl_hook_note {
	u64 skb;
	u16 hook;
};

static DEFINE_PER_CPU(struct kbl_hook_note[KBL_NOTES], kbl_hook_notes);
static DEFINE_PER_CPU(char[KSYM_SYMBOL_LEN], kbl_symbol_text);

/* Offset of the return address from a tracepoint handler's own, by call site. */
struct kbl_above {
	unsigned long site;
	unsigned int words;
};

static DEFINE_PER_CPU(struct kbl_above[KBL_ABOVE_SITES], kbl_aboves);

static __always_inline bool kbl_text_has(const struct kbl_text *texts, unsigned int n,
					 unsigned long addr)
{
	unsigned int i;

	/* The return address of a call at the very end is the end of the text. */
	for (i = 0; i < n; i++)
		if (addr > texts[i].from && addr <= texts[i].to)
			return true;
	return false;
}

/* The kernel prints the size of a function after its name. */
static void kbl_text_set(struct kbl_text *text, void *function)
{
	char name[KSYM_SYMBOL_LEN];
	unsigned long from = (unsigned long)dereference_function_descriptor(function), size;
	const char *slash;

	sprint_symbol(name, from);
	slash = strchr(name, '/');
	if (!slash || sscanf(slash, "/%lx", &size) != 1)
		size = PAGE_SIZE / 4;
	text->from = from;
	text->to = from + size;
}

/* The kernel refuses to probe the function, but only after it has found the address. */
static unsigned long kbl_symbol(const char *name)
{
	struct kprobe kp = { .symbol_name = name, .flags = KPROBE_FLAG_DISABLED };

	if (!register_kprobe(&kp))
		unregister_kprobe(&kp);
	return (unsigned long)kp.addr;
}

static void kbl_texts_find(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
	kbl_text_set(&kbl_freers[0], sk_skb_reason_drop);
#else
	kbl_text_set(&kbl_freers[0], kfree_skb_reason);
#endif
	kbl_text_set(&kbl_freers[1], kfree_skb_list_reason);
	kbl_text_set(&kbl_freers[2], consume_skb);
	kbl_text_set(&kbl_freers[3], napi_consume_skb);
	kbl_text_set(&kbl_hookers[0], nf_hook_slow);
	kbl_text_set(&kbl_hookers[1], nf_hook_slow_list);
	kbl_trampoline = kbl_symbol("arch_rethook_trampoline");
	if (!kbl_trampoline)
		kbl_trampoline = kbl_symbol("__kretprobe_trampoline");
}

/* Modules may have been loaded or unloaded: forget every caller. */
void kbl_stack_start(void)
{
	int cpu;

	if (!kbl_freers[0].from)
		kbl_texts_find();
	memset(kbl_callers, 0, sizeof(kbl_callers));
	for_each_possible_cpu(cpu) {
		memset(per_cpu_ptr(&kbl_hook_notes, cpu), 0, sizeof(kbl_hook_notes));
		memset(per_cpu_ptr(&kbl_aboves, cpu), 0, sizeof(kbl_aboves));
	}
}

/*
 * The address that a return hook replaced.  After tail calls the hooks of one frame are
 * chained; the oldest has it.
 */
unsigned long kbl_stack_real(unsigned long addr)
{
#ifdef CONFIG_RETHOOK
	const struct rethook_node *node;
	unsigned long frame;
	struct llist_node *n;

	if (likely(addr != kbl_trampoline))
		return addr;
	n = current->rethooks.first;
	if (!n)
		return 0;
	frame = container_of(n, struct rethook_node, llist)->frame;
	for (; n; n = n->next) {
		node = container_of(n, struct rethook_node, llist);
		if (node->frame != frame)
			break;
		addr = node->ret_addr;
	}
	return addr;
#else
	return addr == kbl_trampoline ? 0 : addr;
#endif
}
NOKPROBE_SYMBOL(kbl_stack_real);

static bool kbl_symbol_begins(unsigned long addr, const char *with)
{
	char *text = *this_cpu_ptr(&kbl_symbol_text);

	sprint_symbol(text, addr);
	return !strncmp(text, with, strlen(with));
}
NOKPROBE_SYMBOL(kbl_symbol_begins);

/* The caller of the function that called a handler from @site, directly or through an iterator. */
static noinline unsigned long kbl_unwind_above(unsigned long site)
{
	unsigned long entry[8];
	unsigned int n = stack_trace_save(entry, ARRAY_SIZE(entry), 1), i = 0;

	while (i < n && entry[i] != site)
		i++;
	if (i < n && kbl_symbol_begins(site, "__traceiter_"))
		i++;
	return i + 1 < n ? entry[i + 1] : 0;
}
NOKPROBE_SYMBOL(kbl_unwind_above);

/* The frame has a fixed size: find the offset of @addr in it. */
static void kbl_above_learn(struct kbl_above *above, const unsigned long *slot, unsigned long addr)
{
	unsigned long word;
	unsigned int i;

	for (i = 1; addr && i < KBL_ABOVE_WORDS; i++) {
		kbl_get(word, &slot[i], fault);
		if (kbl_stack_real(word) != addr)
			continue;
		above->words = i;
		above->site = *slot;
		return;
	}
fault:
	return;
}
NOKPROBE_SYMBOL(kbl_above_learn);

/*
 * The caller's caller of a tracepoint's handler, whose return address is in @slot. Between two
 * fixed code addresses the frames have a fixed size.  So the unwinder, which is slow, is used
 * once for each call site of a handler.
 */
unsigned long kbl_stack_above(const unsigned long *slot)
{
	struct kbl_above *above = *this_cpu_ptr(&kbl_aboves), *free = NULL;
	unsigned long addr;
	unsigned int i;

	for (i = 0; i < KBL_ABOVE_SITES; i++, above++) {
		if (above->site == *slot) {
			kbl_get(addr, &slot[above->words], fault);
			return kbl_stack_real(addr);
		}
		if (!above->site && !free)
			free = above;
	}
	addr = kbl_unwind_above(*slot);
	if (free)
		kbl_above_learn(free, slot, addr);
	return addr;
fault:
	return 0;
}
NOKPROBE_SYMBOL(kbl_stack_above);

/* A probe saw @skb enter a hook: a drop in netfilter soon after it happened there. */
void kbl_hook_note(u64 skb, u8 hook, u8 pf)
{
	struct kbl_hook_note *notes = *this_cpu_ptr(&kbl_hook_notes);
	struct kbl_hook_note *note = &notes[(skb >> 8) & (KBL_NOTES - 1)];

	note->skb = skb;
	note->hook = hook | pf << 8 | KBL_HOOKED;
}
NOKPROBE_SYMBOL(kbl_hook_note);

/* True if "name.isra.0+0x12/0x34 [module]" is @name. */
static bool kbl_symbol_is(const char *text, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(text, name, len) && strchr(".+ ", text[len]);
}
NOKPROBE_SYMBOL(kbl_symbol_is);

static u16 kbl_hook_lookup(unsigned long caller)
{
	char *text = *this_cpu_ptr(&kbl_symbol_text);
	unsigned int i;

	sprint_symbol(text, caller);
	for (i = 0; i < ARRAY_SIZE(kbl_hook_callers); i++)
		if (kbl_symbol_is(text, kbl_hook_callers[i].name))
			return kbl_hook_callers[i].hook | kbl_hook_callers[i].pf << 8 | KBL_HOOKED;
	return KBL_HOOK_NONE;
}
NOKPROBE_SYMBOL(kbl_hook_lookup);

/* Looking up names is slow: do it once for each caller. */
static u16 kbl_hook_of(unsigned long caller)
{
	u64 *slot = &kbl_callers[hash_long(caller, KBL_CALLER_BITS)], known = READ_ONCE(*slot);

	if (known >> 16 != (caller & GENMASK_ULL(47, 0))) {
		known = (u64)caller << 16 | kbl_hook_lookup(caller);
		WRITE_ONCE(*slot, known);
	}
	return (u16)known == KBL_HOOK_NONE ? 0 : known;
}
NOKPROBE_SYMBOL(kbl_hook_of);

/*
 * The hook in which an skb was dropped: netfilter must be on the stack; its caller determines
 * the hook.
 */
static u16 kbl_stack_hook(const struct kbl_stack *s, u64 skb)
{
	const struct kbl_hook_note *notes = *this_cpu_ptr(&kbl_hook_notes);
	const struct kbl_hook_note *note = &notes[(skb >> 8) & (KBL_NOTES - 1)];
	unsigned int i = s->from, n = min(s->n, s->from + 6);

	while (i < n && !kbl_text_has(kbl_hookers, ARRAY_SIZE(kbl_hookers), s->entry[i]))
		i++;
	if (i == n)
		return 0;
	if (note->skb == skb)
		return note->hook;
	while (i < s->n && kbl_text_has(kbl_hookers, ARRAY_SIZE(kbl_hookers), s->entry[i]))
		i++;
	return i < s->n ? kbl_hook_of(s->entry[i]) : 0;
}
NOKPROBE_SYMBOL(kbl_stack_hook);

/* Where the recorded stack begins: at @location; without one, above the function that frees. */
static unsigned int kbl_stack_from(const struct kbl_stack *s, unsigned long location)
{
	unsigned int i;

	for (i = 0; i < s->n; i++)
		if (s->entry[i] == location)
			return i;
	for (i = 0; i + 1 < s->n && i < 6; i++)
		if (kbl_text_has(kbl_freers, ARRAY_SIZE(kbl_freers), s->entry[i]))
			return i + 1;
	return 0;
}
NOKPROBE_SYMBOL(kbl_stack_from);

/* Interrupts are off.  @location is the kernel's argument, perhaps a return hook. */
void kbl_stack_read(struct kbl_stack *s, u64 skb, unsigned long location)
{
	s->location = kbl_stack_real(location);
	s->n = stack_trace_save(s->entry, ARRAY_SIZE(s->entry), 1);
	s->from = kbl_stack_from(s, s->location);
	s->hook = kbl_stack_hook(s, skb);
}
NOKPROBE_SYMBOL(kbl_stack_read);

/* Append KBL_EXT_DROP slots to the last head; returns how many. */
unsigned int kbl_stack_emit(struct kbl_cpu *c, const struct kbl_stack *s)
{
	unsigned int i, depth = s->n - s->from, slots = 0;
	struct kbl_ext_drop *ext = NULL;

	for (i = 0; i < depth || !slots; i++) {
		if (i % ARRAY_SIZE(ext->stack) == 0) {
			ext = &kbl_ext(c, KBL_EXT_DROP)->drop;
			ext->hook = s->hook;
			ext->depth = depth;
			slots++;
		}
		if (i < depth)
			ext->stack[i % ARRAY_SIZE(ext->stack)] = kbl_offset(s->entry[s->from + i]);
	}
	return slots;
}
NOKPROBE_SYMBOL(kbl_stack_emit);
