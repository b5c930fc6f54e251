// SPDX-License-Identifier: MIT
/* Look up names of numbers: events as in probe lists, functions, drop reasons, devices. */
#include <string.h>

#include "rec_text.h"

static const char *const rec_event_names[] = {
	[0] = "",
	[KBL_EV_ALLOC] = "alloc",
	[KBL_EV_CLONE] = "clone",
	[KBL_EV_COPY] = "copy",
	[KBL_EV_SEGMENT] = "segment",
	[KBL_EV_FREE] = "free",
	[KBL_EV_CONSUME] = "consume",
	[KBL_EV_DROP] = "drop",
	[KBL_EV_TASK] = "task",
	[KBL_EV_GRO_MERGE] = "gro_merge",
	[KBL_EV_COALESCE] = "coalesce",
	[KBL_EV_MORPH] = "morph",
	[KBL_EV_DEFER_FREE] = "defer_free",
	[KBL_EV_QDISC_ENQUEUE] = "qdisc_enqueue",
	[KBL_EV_QDISC_DEQUEUE] = "qdisc_dequeue",
	[KBL_EV_SOCK_ENQUEUE] = "sock_enqueue",
	[KBL_EV_COPY_TO_USER] = "copy_to_user",
	[KBL_EV_RECEIVE] = "receive",
	[KBL_EV_QUEUE] = "queue",
	[KBL_EV_START_XMIT] = "start_xmit",
	[KBL_EV_XMIT] = "xmit",
	[KBL_EV_NAPI_POLL] = "napi_poll",
	[KBL_EV_SYSCALL_ENTRY] = "syscall_entry",
	[KBL_EV_SYSCALL_EXIT] = "syscall_exit",
	[KBL_EV_IRQ_ENTRY] = "irq_entry",
	[KBL_EV_IRQ_EXIT] = "irq_exit",
	[KBL_EV_SOFTIRQ_ENTRY] = "softirq_entry",
	[KBL_EV_SOFTIRQ_EXIT] = "softirq_exit",
	[KBL_EV_NEIGH] = "neigh",
	[KBL_EV_ADDR] = "addr",
	[KBL_EV_ROUTE] = "route",
	[KBL_EV_LINK] = "link",
	[KBL_EV_MODULE] = "module",
	[KBL_EV_CLOCK_SET] = "clock_set",
	[KBL_EV_FOOTPRINT] = "footprint",
	[KBL_EV_CARRY] = "carry",
	[KBL_EV_NF_HOOK] = "nf_hook",
	[KBL_EV_SCHED_SWITCH] = "sched_switch",
	[KBL_EV_WAKE] = "wake",
	[KBL_EV_LOCK_WAIT] = "lock_wait",
	[KBL_EV_LOCK_GOT] = "lock_got",
	[KBL_EV_PAGE_FAULT] = "page_fault",
	[KBL_EV_QUEUE_LENGTH] = "queue_length",
	[KBL_EV_SOCK_LENGTH] = "sock_length",
};

#define REC_EVENTS (sizeof(rec_event_names) / sizeof(rec_event_names[0]))

/* Returns -1 for an unknown name. */
int rec_event_named(const char *name)
{
	for (size_t i = 1; i < REC_EVENTS; i++)
		if (!strcmp(rec_event_names[i], name))
			return i;
	return -1;
}

const char *rec_event_name(unsigned int event)
{
	return event < REC_EVENTS ? rec_event_names[event] : "unknown";
}

const char *rec_probe_name(const struct rec_names *names, unsigned int id)
{
	return id < names->probes && names->probe[id] ? names->probe[id] : "?";
}

void rec_names_forget(struct rec_names *names)
{
	for (size_t id = 0; id < names->probes; id++)
		names->probe[id] = NULL;
}

void rec_names_probe(struct rec_names *names, unsigned int id, const char *name)
{
	if (id > 0xffff)
		return;
	if (id >= names->probes) {
		names->probe = rec_more(names->probe, id + 1, sizeof(*names->probe));
		while (names->probes <= id)
			names->probe[names->probes++] = NULL;
	}
	names->probe[id] = name;
}

/* Returns NULL if unknown. */
const char *rec_reason_name(const struct rec_names *names, int number)
{
	for (size_t i = names->reasons; i-- > 0;)
		if (names->reason[i].number == number)
			return names->reason[i].name;
	return NULL;
}

void rec_names_reason(struct rec_names *names, int number, const char *name)
{
	names->reason = rec_more(names->reason, names->reasons + 1, sizeof(*names->reason));
	names->reason[names->reasons].number = number;
	names->reason[names->reasons++].name = rec_copy(name);
}

/* Returns NULL if unknown.  Namespace 0 matches any. */
const char *rec_device_name(const struct rec_names *names, kbl_u32 netns, kbl_u32 ifindex)
{
	for (size_t i = names->devices; i-- > 0;)
		if (names->device[i].ifindex == ifindex &&
		    (!netns || names->device[i].netns == netns))
			return names->device[i].name;
	return NULL;
}
