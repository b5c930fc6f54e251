// SPDX-License-Identifier: MIT
/* Print a record as one line: time, CPU, thread, duration, description. */
#include <string.h>
#include <time.h>

#include "rec_text.h"

static void rec_line_time(struct rec_text *t, kbl_u64 ts)
{
	kbl_s64 real = ts + t->names->real_minus_mono;
	time_t seconds = real / 1000000000;
	unsigned int ns = real % 1000000000;
	char text[32] = "";
	struct tm parts;

	if (t->o->time_style == 1)
		return;
	if (t->o->time_style == 2) {
		printf("%lld.%09u ", (long long)seconds, ns);
	} else if (t->o->time_style == 3) {
		kbl_u64 since = t->shown && ts > t->shown ? ts - t->shown : 0;

		printf("%6llu.%09llu ", (unsigned long long)(since / 1000000000),
		       (unsigned long long)(since % 1000000000));
	} else if (localtime_r(&seconds, &parts)) {
		strftime(text, sizeof(text), t->o->time_style ? "%F %T" : "%T", &parts);
		printf("%s.%09u ", text, ns);
	}
	t->shown = ts;
}

static void rec_line_thread(const struct rec_text *t, kbl_u32 pid)
{
	const struct rec_comm *comm = &t->comm[pid & (REC_COMMS - 1)];
	char text[40];

	if (pid == REC_NO_PID)
		strcpy(text, "?");
	else if (comm->tid == pid && *comm->name)
		snprintf(text, sizeof(text), "%s/%u", comm->name, pid);
	else
		snprintf(text, sizeof(text), "%u", pid);
	printf("%-22s ", text);
}

static void rec_line_duration(const union rec_slot *slot)
{
	kbl_u64 ns = slot->span.dur;

	for (int i = 1; ns == 0xffffffff && i <= slot->span.ext; i++)
		if (slot[i].ret.type == KBL_EXT_CALL)
			ns = slot[i].ret.dur;
	printf("%9llu.%03u us | ", (unsigned long long)(ns / 1000), (unsigned int)(ns % 1000));
}

static void rec_line_skb(unsigned int flags, kbl_u64 skb)
{
	if (flags & KBL_FLAG_NULL_SKB)
		printf("(skb NULL)");
	else if (skb)
		printf("(%s 0x%llx)", flags & KBL_FLAG_SOCK ? "sock" : "skb",
		       (unsigned long long)skb);
	else
		printf("()");
}

static void rec_line_caller(const struct rec_text *t, unsigned int flags, kbl_s32 caller)
{
	if (flags & KBL_FLAG_NO_CALLER)
		return;
	printf(flags & KBL_FLAG_TAIL_CALL ? " <~ " : " < ");
	rec_symbol_show(stdout, t->names, caller);
}

/* A number, in hexadecimal if it looks like an address. */
static void rec_line_return(unsigned int flags, kbl_s64 value)
{
	if (flags & KBL_FLAG_SKB_IS_RET)
		printf(" = skb 0x%llx", (unsigned long long)value);
	else if (value != (kbl_s32)value)
		printf(" = 0x%llx", (unsigned long long)value);
	else if (value)
		printf(" = %lld", (long long)value);
}

static void rec_line_call(const struct rec_text *t, const union rec_slot *slot)
{
	const struct kbl_span_slot *call = &slot->span;

	printf("%s", rec_probe_name(t->names, call->func));
	rec_line_skb(call->flags, call->skb);
	for (int i = 1; i <= call->ext; i++) {
		if (slot[i].ret.type == KBL_EXT_CALL)
			rec_line_return(call->flags, slot[i].ret.ret);
		else if (slot[i].ret.type == KBL_EXT_COUNTER && slot[i].counter.valid)
			printf(" [%llu]", (unsigned long long)slot[i].counter.count);
	}
	rec_line_caller(t, call->flags, call->caller);
}

/* A call that was open at the end, or one for which the table of open calls was full. */
static void rec_line_end(const struct rec_text *t, const union rec_slot *slot)
{
	const struct kbl_call_slot *call = &slot->call;

	printf("%s%s", call->kind == KBL_ENTRY ? "> " : "< ", rec_probe_name(t->names, call->func));
	rec_line_skb(call->flags, call->skb);
	if (call->kind == KBL_EXIT)
		printf(" = %d", call->caller);
	else
		rec_line_caller(t, call->flags, call->caller);
	if (call->flags & KBL_FLAG_OPEN)
		printf(" (has not returned)");
}

/* The lost records may contain an interrupt's end: forget the starts. */
static void rec_line_lost(struct rec_text *t, unsigned int cpu, const struct kbl_lost_slot *lost)
{
	static const char *const reasons[] = {
		[KBL_LOST_BUFFER] = "the buffers were full",
		[KBL_LOST_MISSED] = "missed by the probe",
		[KBL_LOST_NESTED] = "while another record was written",
	};
	bool known = lost->reason < sizeof(reasons) / sizeof(reasons[0]) && reasons[lost->reason];

	printf("! %llu records lost in %llu ns: %s", (unsigned long long)lost->count,
	       (unsigned long long)(lost->ts - lost->first_ns),
	       known ? reasons[lost->reason] : "unknown reason");
	if (lost->func != REC_NO_PROBE)
		printf(", %s", rec_probe_name(t->names, lost->func));
	if (cpu < t->cpus)
		t->began[cpu] = (struct rec_began){};
}

static void rec_line_event(struct rec_text *t, unsigned int cpu, const union rec_slot *slot)
{
	rec_event_show(stdout, t->names, slot);
	rec_interrupt_show(t, cpu, slot);
}

void rec_line_show(struct rec_text *t, const struct rec_line *line, unsigned int depth)
{
	const union rec_slot *slot = (const void *)(t->pool.data + line->at);

	rec_line_time(t, line->ts);
	if (line->cpu == KBL_CPU_RECORDER)
		printf("---");
	else
		printf("%03u", line->cpu);
	printf("%c ", slot->call.kind == KBL_LOST ? '!' :
	       slot->call.context < 4 ? ".shn"[slot->call.context] : '?');
	rec_line_thread(t, slot->call.kind == KBL_LOST ? REC_NO_PID : line->pid);
	if (slot->call.kind == KBL_CALL)
		rec_line_duration(slot);
	else
		printf("%16s | ", "");
	printf("%*s", (int)(2 * depth), "");
	if (slot->call.kind == KBL_CALL)
		rec_line_call(t, slot);
	else if (slot->call.kind == KBL_EVENT)
		rec_line_event(t, line->cpu, slot);
	else if (slot->call.kind == KBL_LOST)
		rec_line_lost(t, line->cpu, &slot->lost);
	else
		rec_line_end(t, slot);
	putchar('\n');
}
