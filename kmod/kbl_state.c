// SPDX-License-Identifier: GPL-2.0-only
/* The state that all files of the module share, and the switch to the slow path. */
#include "kbl_record.h"

DEFINE_PER_CPU(struct kbl_cpu *, kbl_cpu);
unsigned long kbl_stext;
unsigned long kbl_kernel_low __ro_after_init;
bool kbl_active;
DEFINE_MUTEX(kbl_lock);

/* All calls take the slow path, because a filter or the counter is on. */
DEFINE_STATIC_KEY_FALSE(kbl_detour);

/* Set the first word that calls entered on each CPU begin with. */
void kbl_heads_make(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct kbl_cpu *c = per_cpu(kbl_cpu, cpu);
		u64 head = KBL_HEAD(entry_cpu, cpu);

		WRITE_ONCE(c->head, static_key_enabled(&kbl_detour) ? head | KBL_SLOW : head);
	}
}

/* Switch something on or off for which all calls must take the slow path. */
void kbl_detour_switch(struct static_key_false *key, bool on)
{
	if (on == static_key_enabled(key))
		return;
	if (on) {
		static_branch_enable(key);
		static_branch_inc(&kbl_detour);
		kbl_heads_make();
	} else {
		static_branch_dec(&kbl_detour);
		kbl_heads_make();
		static_branch_disable(key);
	}
}
