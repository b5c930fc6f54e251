// SPDX-License-Identifier: MIT
/* Names for numbers of the kernel's interfaces, as its own tools print them. */
#include <stddef.h>
#include <string.h>

#include "rec_text.h"

#define REC_NO_CALL 0xffff	/* not on this architecture */
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

/* The network's system calls on the architectures of the module; others stay numbers. */
static const struct {
	unsigned short x86_64;	/* asm/unistd_64.h */
	unsigned short aarch64;	/* asm-generic/unistd.h */
	const char *name;
} rec_syscalls[] = {
	{ 0, 63, "read" },
	{ 1, 64, "write" },
	{ 3, 57, "close" },
	{ 7, REC_NO_CALL, "poll" },
	{ 16, 29, "ioctl" },
	{ 19, 65, "readv" },
	{ 20, 66, "writev" },
	{ 23, REC_NO_CALL, "select" },
	{ 40, 71, "sendfile" },
	{ 41, 198, "socket" },
	{ 42, 203, "connect" },
	{ 43, 202, "accept" },
	{ 44, 206, "sendto" },
	{ 45, 207, "recvfrom" },
	{ 46, 211, "sendmsg" },
	{ 47, 212, "recvmsg" },
	{ 48, 210, "shutdown" },
	{ 49, 200, "bind" },
	{ 50, 201, "listen" },
	{ 51, 204, "getsockname" },
	{ 52, 205, "getpeername" },
	{ 53, 199, "socketpair" },
	{ 54, 208, "setsockopt" },
	{ 55, 209, "getsockopt" },
	{ 232, REC_NO_CALL, "epoll_wait" },
	{ 233, 21, "epoll_ctl" },
	{ 270, 72, "pselect6" },
	{ 271, 73, "ppoll" },
	{ 275, 76, "splice" },
	{ 281, 22, "epoll_pwait" },
	{ 288, 242, "accept4" },
	{ 299, 243, "recvmmsg" },
	{ 307, 269, "sendmmsg" },
	{ 441, 441, "epoll_pwait2" },
};

static const char *rec_word(const char *const *list, size_t n, unsigned int number)
{
	return number < n ? list[number] : NULL;
}

const char *rec_softirq_word(kbl_u64 number)
{
	return number < REC_COUNT(rec_softirqs) ? rec_softirqs[number] : NULL;
}

/* Returns NULL if unknown. */
const char *rec_syscall_word(const char *machine, kbl_u64 number)
{
	bool x86 = !strcmp(machine, "x86_64"), arm = !strcmp(machine, "aarch64");

	for (size_t i = 0; i < REC_COUNT(rec_syscalls); i++)
		if ((x86 && rec_syscalls[i].x86_64 == number) ||
		    (arm && rec_syscalls[i].aarch64 == number))
			return rec_syscalls[i].name;
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
