// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which events are recorded: groups of tracepoints and notifiers, switched on and off by name.
 * They are registered only while the module records.
 *
 * The tracepoints are looked up by name, because the kernel exports few of them.  The compiler
 * checks their prototypes.
 */
#include <linux/interrupt.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/irq.h>
#include <trace/events/lock.h>
#include <trace/events/napi.h>
#include <trace/events/neigh.h>
#include <trace/events/net.h>
#include <trace/events/qdisc.h>
#include <trace/events/sched.h>
#include <trace/events/skb.h>
#include <trace/events/syscalls.h>
#ifdef CONFIG_X86
#include <asm/trace/exceptions.h>
#endif

#include "kbl_events.h"
#include "kbl_stack.h"

#define KBL_TRACE_LINE 256	/* longest line of words */
#define KBL_SYSCALL_GROUPS (BIT(KBL_GROUP_SYSCALL) | BIT(KBL_GROUP_SYSCALLS))

struct kbl_trace {
	const char *name;
	void *handler;
	u8 group;
	u8 event;
	bool on;
	int error;
	struct tracepoint *tp;
};

/* Other architectures have no tracepoints of page faults. */
#ifdef CONFIG_X86
#define KBL_FAULT_TRACES(X)					\
	X(page_fault_user, FAULT, PAGE_FAULT)			\
	X(page_fault_kernel, FAULT, PAGE_FAULT)
#else
#define KBL_FAULT_TRACES(X)
#endif

#define KBL_TRACES(X)						\
	X(netif_receive_skb, NET, RECEIVE)			\
	X(net_dev_queue, NET, QUEUE)				\
	X(net_dev_start_xmit, NET, START_XMIT)			\
	X(net_dev_xmit, NET, XMIT)				\
	X(napi_poll, NET, NAPI_POLL)				\
	X(qdisc_enqueue, QDISC, QDISC_ENQUEUE)			\
	X(qdisc_dequeue, QDISC, QDISC_DEQUEUE)			\
	X(skb_copy_datagram_iovec, COPY, COPY_TO_USER)		\
	X(kfree_skb, DROP, DROP)				\
	X(consume_skb, DROP, CONSUME)				\
	X(irq_handler_entry, IRQ, IRQ_ENTRY)			\
	X(irq_handler_exit, IRQ, IRQ_EXIT)			\
	X(softirq_entry, SOFTIRQ, SOFTIRQ_ENTRY)		\
	X(softirq_exit, SOFTIRQ, SOFTIRQ_EXIT)			\
	X(sys_enter, SYSCALL, SYSCALL_ENTRY)			\
	X(sys_exit, SYSCALL, SYSCALL_EXIT)			\
	X(neigh_create, TABLE, NEIGH)				\
	X(sched_switch, SCHED, SCHED_SWITCH)			\
	X(sched_waking, SCHED, WAKE)				\
	X(contention_begin, LOCK, LOCK_WAIT)			\
	X(contention_end, LOCK, LOCK_GOT)			\
	KBL_FAULT_TRACES(X)					\
	X(netif_rx, QUEUE, QUEUE_LENGTH)

#define KBL_TRACE(_name, _group, _event)			\
	{ .name = #_name, .handler = kbl_on_##_name,		\
	  .group = KBL_GROUP_##_group, .event = KBL_EV_##_event },
static struct kbl_trace kbl_traces[] = { KBL_TRACES(KBL_TRACE) };

static const char * const kbl_groups[KBL_NR_GROUPS] = {
	[KBL_GROUP_NET] = "net",
	[KBL_GROUP_QDISC] = "qdisc",
	[KBL_GROUP_SOCK] = "sock",
	[KBL_GROUP_COPY] = "copy",
	[KBL_GROUP_DROP] = "drop",
	[KBL_GROUP_SYSCALL] = "syscall",
	[KBL_GROUP_IRQ] = "irq",
	[KBL_GROUP_SOFTIRQ] = "softirq",
	[KBL_GROUP_TABLE] = "table",
	[KBL_GROUP_SCHED] = "sched",
	[KBL_GROUP_LOCK] = "lock",
	[KBL_GROUP_FAULT] = "fault",
	[KBL_GROUP_QUEUE] = "queue",
	[KBL_GROUP_SYSCALLS] = "syscalls",
};

/* The others are off: they cost time on every path, not only in the network, or are many. */
static unsigned long kbl_wanted = BIT(KBL_GROUP_NET) | BIT(KBL_GROUP_QDISC) |
	BIT(KBL_GROUP_SOCK) | BIT(KBL_GROUP_COPY) | BIT(KBL_GROUP_DROP) | BIT(KBL_GROUP_TABLE);
static bool kbl_tracing;
static bool kbl_notifying;

/* A handler does not compile if its prototype differs from its tracepoint's. */
#define KBL_CHECK(_name, _group, _event) check_trace_callback_type_##_name(kbl_on_##_name);
static void __maybe_unused kbl_trace_check(void)
{
	KBL_TRACES(KBL_CHECK)
}

static void kbl_trace_found(struct tracepoint *tp, void *unused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kbl_traces); i++)
		if (!strcmp(kbl_traces[i].name, tp->name))
			kbl_traces[i].tp = tp;
}

/* The tracepoints of system calls serve two groups. */
static unsigned long kbl_trace_groups(const struct kbl_trace *t)
{
	return t->group == KBL_GROUP_SYSCALL ? KBL_SYSCALL_GROUPS : BIT(t->group);
}

static bool kbl_groups_on(unsigned long groups)
{
	return kbl_tracing && kbl_wanted & groups;
}

/*
 * Update which events probes may record: none of a group that is switched off, and none that a
 * tracepoint records, since a tracepoint has more detail.
 */
static void kbl_probe_events_update(void)
{
	u64 events = U64_MAX;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kbl_traces); i++)
		if (kbl_traces[i].on || !(kbl_wanted & kbl_trace_groups(&kbl_traces[i])))
			events &= ~BIT_ULL(kbl_traces[i].event);
	if (!(kbl_wanted & BIT(KBL_GROUP_SOCK)))
		events &= ~(BIT_ULL(KBL_EV_SOCK_ENQUEUE) | BIT_ULL(KBL_EV_SOCK_LENGTH));
	/* Lengths are no events of probes or tracepoints alone: they are recorded beside others. */
	if (kbl_wanted & BIT(KBL_GROUP_QUEUE))
		events |= BIT_ULL(KBL_EV_QUEUE_LENGTH);
	else
		events &= ~(BIT_ULL(KBL_EV_QUEUE_LENGTH) | BIT_ULL(KBL_EV_SOCK_LENGTH));
	WRITE_ONCE(kbl_probe_events, events);
}

static void kbl_trace_switch(struct kbl_trace *t, bool on)
{
	if (t->on == on)
		return;
	if (!on)
		tracepoint_probe_unregister(t->tp, t->handler, NULL);
	else
		t->error = t->tp ? tracepoint_probe_register(t->tp, t->handler, NULL) : -ENOENT;
	t->on = on && !t->error;
	if (t->error)
		pr_warn("kbl: tracepoint %s: error %d\n", t->name, t->error);
	/* Update now: until then, the handler does nothing (see kbl_by_probe()). */
	kbl_probe_events_update();
}

static int kbl_notify_switch(bool on)
{
	int err = 0;

	if (kbl_notifying == on)
		return 0;
	if (on)
		err = kbl_notify_start();
	else
		kbl_notify_stop();
	kbl_notifying = on && !err;
	return err;
}

/*
 * Register what is wanted, and only that.  In the table an end comes after its start, so an end
 * is registered for as long as its start may be recorded.
 */
static int kbl_trace_apply(void)
{
	unsigned int i;
	int err;

	kbl_syscall_choose(kbl_wanted & BIT(KBL_GROUP_SYSCALL),
			   kbl_wanted & BIT(KBL_GROUP_SYSCALLS));
	for (i = 0; i < ARRAY_SIZE(kbl_traces); i++)
		if (!kbl_groups_on(kbl_trace_groups(&kbl_traces[i])))
			kbl_trace_switch(&kbl_traces[i], false);
	for (i = ARRAY_SIZE(kbl_traces); i--; )
		if (kbl_groups_on(kbl_trace_groups(&kbl_traces[i])))
			kbl_trace_switch(&kbl_traces[i], true);
	err = kbl_notify_switch(kbl_groups_on(BIT(KBL_GROUP_TABLE)));
	kbl_probe_events_update();
	tracepoint_synchronize_unregister();
	return err;
}

/*
 * Called before handlers are registered: forget the starts that they recorded, whose ends would
 * not match.  @before: the groups whose handlers are registered.
 */
static void kbl_groups_start(unsigned long wanted, unsigned long before)
{
	if (wanted & ~before & (BIT(KBL_GROUP_IRQ) | BIT(KBL_GROUP_SOFTIRQ)))
		kbl_irq_start();
	if (wanted & KBL_SYSCALL_GROUPS && !(before & KBL_SYSCALL_GROUPS))
		kbl_syscall_start();
}

/* kbl_lock is held in all that follows. */
int kbl_trace_start(void)
{
	int err;

	for_each_kernel_tracepoint(kbl_trace_found, NULL);
	kbl_stack_start();
	kbl_groups_start(kbl_wanted, 0);
	kbl_tracing = true;
	err = kbl_trace_apply();
	if (err)
		kbl_trace_stop();
	return err;
}

/* No handler runs any more when this returns. */
void kbl_trace_stop(void)
{
	kbl_tracing = false;
	kbl_trace_apply();
}

/* Parse "+name" or "-name"; all is every group. */
static int kbl_trace_word(const char *word, unsigned long *wanted)
{
	unsigned long groups = 0;
	int i;

	if (*word != '+' && *word != '-')
		return -EINVAL;
	i = match_string(kbl_groups, KBL_NR_GROUPS, word + 1);
	if (i >= 0)
		groups = BIT(i);
	else if (!strcmp(word + 1, "all"))
		groups = BIT(KBL_NR_GROUPS) - 1;
	else
		return -EINVAL;
	*wanted = *word == '+' ? *wanted | groups : *wanted & ~groups;
	return 0;
}

/* Returns -EINVAL and changes nothing if there is no word or a wrong one. */
int kbl_trace_set(const char *words)
{
	unsigned long wanted = kbl_wanted;
	char line[KBL_TRACE_LINE], *rest = line, *word;
	int err = -EINVAL;

	if (strscpy(line, words, sizeof(line)) < 0)
		return -EINVAL;
	while ((word = strsep(&rest, " \t\n"))) {
		if (!*word)
			continue;
		err = kbl_trace_word(word, &wanted);
		if (err) {
			pr_warn("kbl: events: '%*pE' is not a group with + or - before it\n",
				(int)min_t(size_t, strlen(word), 64), word);
			return err;
		}
	}
	if (err)
		return err;
	kbl_groups_start(wanted, kbl_wanted);
	kbl_wanted = wanted;
	return kbl_trace_apply();
}

static void kbl_group_show(struct seq_file *m, unsigned int group)
{
	unsigned int i;

	seq_printf(m, "%s %s", kbl_groups[group], kbl_wanted & BIT(group) ? "on" : "off");
	for (i = 0; i < ARRAY_SIZE(kbl_traces); i++) {
		const struct kbl_trace *t = &kbl_traces[i];

		if (!(kbl_trace_groups(t) & BIT(group)))
			continue;
		seq_printf(m, " %s", t->name);
		if (t->error)
			seq_printf(m, "=%d", t->error);
		else if (t->on)
			seq_puts(m, "=1");
	}
	if (group == KBL_GROUP_TABLE)
		seq_printf(m, " notifiers%s", kbl_notifying ? "=1" : "");
	seq_putc(m, '\n');
}

void kbl_trace_show(struct seq_file *m)
{
	unsigned int i;

	seq_puts(m, "# Write +GROUP to switch a group of events on, -GROUP to switch it off;\n"
		    "# +all and -all: every group.  Each line below: GROUP on|off SOURCE ...\n"
		    "# SOURCE=1: registered now, SOURCE=-ERRNO: registering it failed.\n"
		    "# sock: SOCK_ENQUEUE, recorded by probes; table: neighbours, addresses,\n"
		    "# routes, links, modules, clock; queue: lengths, recorded with events of\n"
		    "# qdisc and sock; fault: only on x86; syscall: on sockets; syscalls: all.\n");
	for (i = 0; i < KBL_NR_GROUPS; i++)
		kbl_group_show(m, i);
	kbl_syscall_show(m);
}
