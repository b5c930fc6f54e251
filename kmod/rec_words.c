// SPDX-License-Identifier: MIT
/* Names of numbers of the kernel's interfaces, as the kernel's own tools print them. */
#include <stddef.h>
#include <string.h>

#include "rec_syscall_names.h"
#include "rec_text.h"

#define REC_COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* linux/interrupt.h */
static const char *const rec_softirqs[] = {
	"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER",
	"RCU",
};

/* linux/netfilter.h, uapi */
static const char *const rec_hooks[] = {
	"PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING",
};

static const char *const rec_arp_hooks[] = { "INPUT", "OUTPUT", "FORWARD" };
static const char *const rec_netdev_hooks[] = { "INGRESS", "EGRESS" };

static const char *const rec_families[] = {
	[1] = "inet", [2] = "IPv4", [3] = "ARP", [5] = "netdev", [7] = "bridge", [10] = "IPv6",
};

static const char *const rec_verdicts[] = {
	"drop", "accept", "stolen", "queue", "repeat", "stop",
};

static const char *rec_word(const char *const *list, size_t n, unsigned int number)
{
	return number < n ? list[number] : NULL;
}

const char *rec_softirq_word(kbl_u64 number)
{
	return number < REC_COUNT(rec_softirqs) ? rec_softirqs[number] : NULL;
}

/* Returns NULL if unknown.  @number: without KBL_SYSCALL_32BIT. */
const char *rec_syscall_word(const char *machine, kbl_u32 number, bool is_32bit)
{
	if (!strcmp(machine, "x86_64") && is_32bit)
		return rec_word(rec_i386_calls, REC_COUNT(rec_i386_calls), number);
	if (!strcmp(machine, "x86_64"))
		return rec_word(rec_x86_64_calls, REC_COUNT(rec_x86_64_calls), number);
	if (!strcmp(machine, "aarch64") && !is_32bit)
		return rec_word(rec_aarch64_calls, REC_COUNT(rec_aarch64_calls), number);
	return NULL;
}

/* Print " IPv4 INPUT" for the hook | family << 8 of events. */
void rec_hook_show(FILE *out, unsigned int hook)
{
	unsigned int family = hook >> 8 & 0x7f, number = hook & 0xff;
	const char *who = rec_word(rec_families, REC_COUNT(rec_families), family), *word;

	if (family == 3)
		word = rec_word(rec_arp_hooks, REC_COUNT(rec_arp_hooks), number);
	else if (family == 5)
		word = rec_word(rec_netdev_hooks, REC_COUNT(rec_netdev_hooks), number);
	else
		word = rec_word(rec_hooks, REC_COUNT(rec_hooks), number);
	if (who)
		fprintf(out, " %s", who);
	else
		fprintf(out, " family %u", family);
	if (word)
		fprintf(out, " %s", word);
	else
		fprintf(out, " hook %u", number);
}

const char *rec_verdict_word(int verdict)
{
	return verdict < 0 ? NULL : rec_word(rec_verdicts, REC_COUNT(rec_verdicts), verdict);
}

/* linux/neighbour.h; NULL: unknown, or several bits. */
const char *rec_nud_word(unsigned int state)
{
	static const char *const words[] = { "incomplete", "reachable", "stale", "delay", "probe",
					     "failed", "noarp", "permanent" };

	for (unsigned int i = 0; i < REC_COUNT(words); i++)
		if (state == 1u << i)
			return words[i];
	return state ? NULL : "none";
}

/* linux/rtnetlink.h */
const char *rec_table_word(kbl_u32 table)
{
	return table == 255 ? "local" : table == 254 ? "main" : table == 253 ? "default" : NULL;
}
