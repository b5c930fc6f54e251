// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables of open calls, one for each CPU: allocate and empty them, and record the calls that
 * are still open at the end of a recording.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "kbl_hot.h"

#ifdef CONFIG_RETHOOK

/*
 * Returns its own return address.  While the return of this function is hooked, that is the
 * address of the hook.
 */
static noinline __noclone unsigned long kbl_hooked_see(void)
{
	return (unsigned long)__builtin_return_address(0);
}

static int kbl_hooked_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}
NOKPROBE_SYMBOL(kbl_hooked_return);

/*
 * Find the address of the return hook, which is not exported to modules.  If it cannot be
 * found, all calls take the slow path.
 */
static void kbl_hooked_find(void)
{
	struct kretprobe rp = {
		.kp.addr = (kprobe_opcode_t *)kbl_hooked_see,
		.handler = kbl_hooked_return,
		.maxactive = num_possible_cpus(),
	};
	unsigned long seen = 0;

	if (!register_kretprobe(&rp)) {
		seen = kbl_hooked_see();
		unregister_kretprobe(&rp);
	}
	if (seen && !within_module(seen, THIS_MODULE))
		kbl_hooked = seen;
	else
		static_branch_inc(&kbl_detour);
}

#else

static void kbl_hooked_find(void)
{
}

#endif

int kbl_calls_init(void)
{
	int cpu;

	BUILD_BUG_ON(sizeof(struct kbl_known) != KBL_KNOWN_SIZE);
	for_each_possible_cpu(cpu) {
		struct kbl_cpu *c = kvzalloc_node(sizeof(*c), GFP_KERNEL, cpu_to_node(cpu));

		if (!c)
			return -ENOMEM;
		per_cpu(kbl_cpu, cpu) = c;
	}
	kbl_hooked_find();
	kbl_calls_reset();
	return 0;
}

void kbl_calls_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		kvfree(per_cpu(kbl_cpu, cpu));
}

/* Free all entries.  Call it only while nothing is armed. */
void kbl_calls_reset(void)
{
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct kbl_cpu *c = per_cpu(kbl_cpu, cpu);

		c->free = NULL;
		c->returned = false;
		c->last_who.cpu = cpu;
		for (i = KBL_NR_CALLS; i-- > 0;) {
			c->calls[i].who.cpu = cpu;
			c->calls[i].span.ts = 0;
			kbl_call_free(c, &c->calls[i]);
		}
	}
	kbl_heads_make();
}

/*
 * Nothing is armed any more, so calls still in the table did not return while the module
 * recorded.
 */
static void kbl_close_this_cpu(void *unused)
{
	struct kbl_cpu *c = __this_cpu_read(kbl_cpu);
	DECLARE_BITMAP(open, KBL_NR_CALLS);
	struct kbl_call *call;
	unsigned int i;

	bitmap_fill(open, KBL_NR_CALLS);
	for (call = c->free; call; call = call->next)
		__clear_bit(call - c->calls, open);
	for_each_set_bit(i, open, KBL_NR_CALLS)
		if (c->calls[i].target == KBL_CALL_RETURNED || c->calls[i].target->quiet ||
		    c->calls[i].span.kind == KBL_CALL_REFUSED)
			__clear_bit(i, open);
	if (bitmap_empty(open, KBL_NR_CALLS) || !kbl_batch_open_last())
		return;
	for_each_set_bit(i, open, KBL_NR_CALLS) {
		kbl_call_record(c, KBL_ENTRY, &c->calls[i], KBL_FLAG_OPEN);
		c->open++;
	}
	kbl_batch_close(c);
}

/* Record the calls that have not returned. */
void kbl_calls_close(void)
{
	on_each_cpu(kbl_close_this_cpu, NULL, 1);
	kbl_calls_reset();
}
