// SPDX-License-Identifier: MIT
/* Print events of the scheduler, locks, page faults and lengths of queues as text. */
#include "rec_text.h"

#define REC_LOCK_BITS 56	/* of a lock's address; all higher bits are set */
#define REC_LOCK_MASK ((1ULL << REC_LOCK_BITS) - 1)
#define REC_FAULT_PRESENT 1	/* x86: enum x86_pf_error_code */
#define REC_FAULT_WRITE 2
#define REC_FAULT_USER 4
#define REC_FAULT_INSTRUCTION 16

/* " mutex", " read lock", ... */
static const char *rec_lock_word(unsigned int how)
{
	if (how & KBL_LOCK_MUTEX)
		return "mutex";
	if (how & KBL_LOCK_RT)
		return "rt_mutex";
	if (how & KBL_LOCK_READ)
		return "lock to read";
	if (how & KBL_LOCK_WRITE)
		return "lock to write";
	return "lock";
}

static void rec_lock_show(FILE *out, const struct rec_names *names, const union rec_slot *slot)
{
	unsigned int how = slot->event.data >> REC_LOCK_BITS;

	if (slot->event.event == KBL_EV_LOCK_WAIT)
		fprintf(out, " %s %s", how & KBL_LOCK_SPIN ? "spins for" : "sleeps for",
			rec_lock_word(how));
	fprintf(out, " 0x%llx", (unsigned long long)(slot->event.data | ~REC_LOCK_MASK));
	if (slot->event.event == KBL_EV_LOCK_GOT && how)
		fputs(" gave up", out);
	for (int i = 1; i <= slot->event.ext; i++) {
		const struct kbl_ext_stack *stack = &slot[i].stack;

		for (int j = 0; stack->type == KBL_EXT_STACK && j < 6 && stack->stack[j]; j++) {
			fputs(" < ", out);
			rec_symbol_show(out, names, stack->stack[j]);
		}
	}
}

static void rec_fault_show(FILE *out, kbl_u64 data)
{
	fprintf(out, " %s%s of %s at 0x%llx",
		data & REC_FAULT_INSTRUCTION ? "fetch" : data & REC_FAULT_WRITE ? "write" : "read",
		data & REC_FAULT_USER ? "" : " by the kernel",
		data & REC_FAULT_PRESENT ? "a protected page" : "a missing page",
		(unsigned long long)(data & ~0xfffULL));
}

void rec_machine_show(FILE *out, const struct rec_names *names, const union rec_slot *slot)
{
	kbl_u64 data = slot->event.data;

	switch (slot->event.event) {
	case KBL_EV_SCHED_SWITCH:
		fprintf(out, " to %u, %s", (kbl_u32)data, data >> 32 ? "sleeps" : "goes on later");
		break;
	case KBL_EV_WAKE:
		fprintf(out, " %u", (kbl_u32)data);
		break;
	case KBL_EV_PAGE_FAULT:
		rec_fault_show(out, data);
		break;
	default:
		rec_lock_show(out, names, slot);
	}
}

/* A queueing discipline's handle as tc(8) writes it; without a device, the CPU's backlog. */
void rec_length_show(FILE *out, const struct rec_names *names, const union rec_slot *slot)
{
	const struct kbl_ext_addr *addr = &slot[1].addr;
	const char *device;

	fprintf(out, " %u packets", (kbl_u32)slot->event.data);
	if (slot->event.data >> 32)
		fprintf(out, " %u bytes", (kbl_u32)(slot->event.data >> 32));
	if (!slot->event.ext)
		return;
	if (!addr->ifindex) {
		fputs(" in the backlog", out);
		return;
	}
	device = rec_device_name(names, addr->netns, addr->ifindex);
	fprintf(out, " in %x:%x", addr->flags >> 16, addr->flags & 0xffff);
	if (device)
		fprintf(out, " dev %s", device);
	else
		fprintf(out, " dev %u", addr->ifindex);
}
